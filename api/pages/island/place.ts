const reachable = "a[href], button, input, summary";

/** Remembers where in the page somebody is; what it returns goes there again, in the page that took its place. */
export function keepPlace(): () => void {
  const was = document.activeElement;
  if (!(was instanceof HTMLElement) || !was.matches(reachable)) return () => undefined;
  const name = nameOf(was);
  return () => {
    if (was.isConnected) return;
    const all = document.querySelectorAll<HTMLElement>(reachable);
    [...all].find((each) => each.tagName === was.tagName && nameOf(each) === name)?.focus();
  };
}

/** What stays the same of it when amounts change. */
function nameOf({ id, dataset, ariaLabel, textContent }: HTMLElement): string {
  return id || dataset.do || ariaLabel || textContent || "";
}

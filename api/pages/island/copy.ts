import { say } from "./words.ts";

const SHOWN_MS = 1_600;

/** Buttons that copy: shown where they work, whenever they come. */
export function startCopying(): void {
  document.addEventListener("click", (event) => {
    const button = (event.target as Element | null)?.closest<HTMLButtonElement>("[data-copy]");
    if (button) void copy(button);
  });
  showCopying();
}

export function showCopying(): void {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-copy]")) button.hidden = false;
}

async function copy(button: HTMLButtonElement): Promise<void> {
  const before = button.textContent ?? "";
  await navigator.clipboard.writeText(button.dataset.copy ?? "");
  const news = document.getElementById("news");
  button.textContent = say("copied");
  button.classList.add("done");
  if (news) news.textContent = say("copied");
  setTimeout(() => {
    button.textContent = before;
    button.classList.remove("done");
  }, SHOWN_MS);
}

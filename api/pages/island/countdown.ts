import { say } from "./words.ts";

/** Counts down by the server's clock: the visitor's may be wrong. */
export function startCountdown(): void {
  const tick = () => {
    const clock = document.querySelector<HTMLElement>("[data-until]");
    if (!clock) return;
    const left = Date.parse(clock.dataset.until ?? "") - serverNow();
    const isOver = left <= 0;
    clock.textContent = isOver ? say("timeUp") : written(Math.floor(left / 1_000));
    clock.parentElement?.classList.toggle("soon", left < 120_000);
    clock.parentElement?.classList.toggle("over", isOver);
  };
  tick();
  setInterval(tick, 500);
}

let offset: number | null = null;

/** Milliseconds since 1970, as the server counts them. */
function serverNow(): number {
  return Date.now() + (offset ?? setServerTime(document.getElementById("checkout")?.dataset.now ?? ""));
}

/** Takes the server's word for what time it is. */
export function setServerTime(now: string): number {
  const told = Date.parse(now);
  offset = Number.isNaN(told) ? 0 : told - Date.now();
  return offset;
}

function written(seconds: number): string {
  const two = (n: number) => String(n).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const end = `${two(minutes)}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${end}` : end;
}

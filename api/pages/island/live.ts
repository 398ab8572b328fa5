import { showCopying } from "./copy.ts";
import { setServerTime } from "./countdown.ts";
import { newsOf, type Shown } from "./news.ts";
import { keepPlace } from "./place.ts";

/** What the server tells of the payment; the rest of it is on the page already. */
interface Status extends Shown {
  readonly now: string;
}

const OVER = new Set(["paid", "cancelled"]);
/** Money may come late all the same, or leave: no stream is kept for it, the page asks now and then. */
const LATE = new Set(["expired", "failed", "returned"]);
const POLL_MS = 4_000;
const LATE_POLL_MS = 15_000;
/** As long as it can be paid, somebody waits for what comes of that. */
const latePollMs = () => (document.getElementById("wallet") ? POLL_MS : LATE_POLL_MS);

/** Keeps the page at what the server tells: by its stream, or by asking where that does not come through. */
export function startLive(page: HTMLElement, shown: () => void): void {
  if (OVER.has(page.dataset.phase ?? "")) return;
  const base = `/checkout/${page.dataset.id}`;
  let stream: EventSource | null = null;
  let polling = 0;
  let isBusy = false;
  let newest: Status | null = null;
  /** The page did not come when it was asked for, and the stream will not tell the same twice. */
  let hasMissed = false;

  const poll = (everyMs: number) => {
    clearInterval(polling);
    polling = everyMs > 0 ? setInterval(() => void ask().catch(() => undefined), everyMs) : 0;
  };
  const listen = () => {
    stream = new EventSource(`${base}/events`);
    stream.addEventListener("state", (event) => void hear(JSON.parse((event as MessageEvent<string>).data)));
    stream.addEventListener("open", () => poll(0));
    // A stream that does not come through fails again and again, each time before the next question.
    stream.addEventListener("error", () => polling || poll(POLL_MS));
  };
  /** As the page that is shown now has to be kept. */
  const follow = () => {
    const phase = current().dataset.phase ?? "";
    const isDone = OVER.has(phase) || LATE.has(phase);
    if (isDone) {
      stream?.close();
      stream = null;
      poll(LATE.has(phase) ? latePollMs() : 0);
    } else if (!stream) listen();
    else if (stream.readyState === EventSource.OPEN && !hasMissed) poll(0);
    else if (!polling) poll(POLL_MS);
  };
  const hear = async (status: Status) => {
    setServerTime(status.now);
    newest = status;
    if (isBusy) return;
    isBusy = true;
    try {
      await catchUp();
    } finally {
      isBusy = false;
    }
    follow();
  };
  /** Until the page is what was told last: more may be told while it is asked for. A page newer than that is good too. */
  const catchUp = async () => {
    hasMissed = false;
    for (let asked: Status | null = null; newest !== asked && isStale(newest); ) {
      asked = newest;
      hasMissed = !(await redraw(base, shown).catch(() => false));
    }
  };
  const ask = async () => {
    const response = await fetch(`${base}/status`, { headers: { Accept: "application/json" } });
    if (response.ok) await hear((await response.json()) as Status);
  };

  follow();
}

function isStale(newest: Status | null): boolean {
  return newest !== null && newsOf(newest) !== current().dataset.news;
}

function current(): HTMLElement {
  const page = document.getElementById("checkout");
  if (!page) throw new Error("the page has lost its middle");
  return page;
}

/** Asks for the page anew and puts it in place. */
async function redraw(base: string, shown: () => void): Promise<boolean> {
  const response = await fetch(base, { headers: { Accept: "text/html" } });
  if (!response.ok) return false;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  const next = fresh.getElementById("checkout");
  if (!next) return false;
  const goBack = keepPlace();
  const was = current();
  const hasMoved = was.dataset.phase !== next.dataset.phase;
  was.replaceWith(document.importNode(next, true));
  document.title = fresh.title;
  showCopying();
  shown();
  goBack();
  const news = document.getElementById("news");
  const title = document.getElementById("state")?.textContent ?? "";
  if (news && hasMoved) news.textContent = title;
  return true;
}

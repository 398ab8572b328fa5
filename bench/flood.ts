/** `npm run bench:flood`: how long an honest merchant's settles take while another merchant's resource is flooded with
 *  settles that cannot be paid, against a quiet run of the same honest load before it. */
import { gasSpent, headNumber } from "./chain-facts.ts";
import { sell, startService } from "./farebox-server.ts";
import { type Judge, type LoadResult, percentile, runLoad } from "./load.ts";
import { Purse } from "./payments.ts";
import { session } from "./session.ts";

const AIM = 1.5;
const SECONDS = 20;
const HONEST = { concurrency: 16, settles: 2_000 };
const FLOOD = { concurrency: 16, settles: 20_000 };

const isSettled: Judge = (status, body) =>
  status === 200 && body.includes('"success":true') ? null : `${status} not settled`;
/** The flood's answers by kind: each must be a refusal. */
const isRefused: Judge = (status, body) =>
  body.includes('"success":false')
    ? `${status} ${/"errorReason":"(\w+)"/.exec(body)?.[1] ?? "?"}`
    : `${status} not refused`;

await session({ payers: 6_000, paupers: 500 }, async ({ ground, payers, paupers, say, stops }) => {
  const service = await startService(ground, { signers: 1, profileDir: undefined });
  stops.push(service.child.stop);
  const [honest, flooded] = [await sell(service, "Honest"), await sell(service, "Flooded")];
  const purse = new Purse(payers);
  const { baseUrl } = service;
  const honestRun = () =>
    runLoad({
      ...{
        baseUrl,
        path: honest.settlePath,
        concurrency: HONEST.concurrency,
        seconds: SECONDS,
        judge: isSettled,
      },
      bodies: purse.sign(HONEST.settles, honest.offer),
    });
  say("warming up");
  await runLoad({
    ...{ baseUrl, path: honest.settlePath, concurrency: 32, seconds: 10, judge: isSettled },
    bodies: purse.sign(128, honest.offer),
  });
  say("the quiet run");
  const quiet = await honestRun();
  const [replayed = ""] = purse.sign(1, flooded.offer);
  await runLoad({
    baseUrl,
    path: flooded.settlePath,
    bodies: [replayed],
    concurrency: 1,
    seconds: 10,
    judge: isSettled,
  });
  const zero = { ...flooded.offer, requirements: { ...flooded.offer.requirements, amount: "0" } };
  const each = FLOOD.settles / 4;
  const kinds = [
    new Purse(paupers).sign(each, flooded.offer),
    purse.sign(each, flooded.offer, -60),
    purse.sign(each, zero),
    Array<string>(each).fill(replayed),
  ];
  const bodies = Array.from({ length: FLOOD.settles }, (_, i) => kinds[i % 4]?.[Math.floor(i / 4)] ?? "");
  say("the flooded run");
  const from = await headNumber(ground.rpcUrl);
  const [flood, beside] = await Promise.all([
    runLoad({
      baseUrl,
      path: flooded.settlePath,
      bodies,
      concurrency: FLOOD.concurrency,
      seconds: SECONDS,
      judge: isRefused,
    }),
    honestRun(),
  ]);
  const to = await headNumber(ground.rpcUrl);
  const { reverted } = await gasSpent(ground.rpcUrl, { signers: service.signers, after: from, last: to });
  return report(quiet, beside, flood, reverted);
});

function report(quiet: LoadResult, beside: LoadResult, flood: LoadResult, reverted: number): string {
  const row = (name: string, { succeeded, seconds, latenciesMs, failures }: LoadResult) => {
    const failed = [...failures.values()].reduce((sum, count) => sum + count, 0);
    const ms = [0.5, 0.95].map((share) => percentile(latenciesMs, share).toFixed(0));
    return `| ${[name, succeeded, (succeeded / seconds).toFixed(1), ...ms, failed].join(" | ")} |`;
  };
  const ratio = percentile(beside.latenciesMs, 0.95) / percentile(quiet.latenciesMs, 0.95);
  return [
    "| honest settles | settled | per second | p50 ms | p95 ms | failed |",
    "|---|--:|--:|--:|--:|--:|",
    row("quiet", quiet),
    row("beside the flood", beside),
    "",
    `p95 beside the flood / quiet: ${ratio.toFixed(2)} (aim: at most ${AIM}, ${ratio <= AIM ? "met" : "missed"}).`,
    `Flood: ${(flood.answered / flood.seconds).toFixed(0)} unpayable settles a second, unfunded, expired, of zero and replayed in turn, rate limits off; ${reverted} reverted transactions.`,
    ...[...flood.failures].map(([reason, count]) => `- ${count} × ${reason}`),
  ].join("\n");
}

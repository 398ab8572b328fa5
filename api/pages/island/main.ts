/** What the pages do by themselves. Without it they work as well: they are made on the server. */
import { startCopying } from "./copy.ts";
import { startCountdown } from "./countdown.ts";
import { startLive } from "./live.ts";
import { startReturn } from "./return.ts";
import { startWallet } from "./wallet.ts";

document.documentElement.classList.add("scripted");
startCopying();

const page = document.getElementById("checkout");
if (page) {
  startCountdown();
  startWallet();
  startLive(page, () => {
    startReturn();
    startWallet();
  });
}
if (document.getElementById("refund")) startWallet();

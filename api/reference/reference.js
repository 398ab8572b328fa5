// All that pages of the reference do by themselves: put program text on the clipboard, narrow the list
// of calls, and bring the page's own name into view where the list of pages is long.
// Without this file everything can be read and reached all the same.
document.documentElement.classList.add("scripted");
document.querySelector(".side [aria-current]")?.scrollIntoView({ block: "nearest" });

for (const button of document.querySelectorAll("button.copy")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.closest(".panel").querySelector("pre").textContent);
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  });
}

const find = document.querySelector("#find");
find?.addEventListener("input", () => {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const card of document.querySelectorAll(".chapters > section")) {
    const calls = [...card.querySelectorAll("li")];
    for (const call of calls) {
      const text = `${card.querySelector("h3").textContent} ${call.textContent}`.toLowerCase();
      call.hidden = !words.every((word) => text.includes(word));
    }
    const shown = calls.filter(({ hidden }) => !hidden).length;
    card.hidden = shown === 0;
    count += shown;
  }
  document.querySelector("#found").textContent = `${count} calls`;
});

/** What a command tells, line by line. */
export const say = (line: string) => void process.stdout.write(`${line}\n`);

/** Who reads may leave first, as `head` does, and that changes nothing else; that an answer found no room on a disk is
 *  told, exit 1: it may hold a key that is shown once. */
export function outliveReaders(): void {
  let code: string | undefined;
  process.stderr.on("error", () => {}); // there is nowhere to tell it
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE" || code !== undefined) return;
    code = error.code ?? error.message;
    process.stderr.write(
      `What the command did is done, and not all that it says could be written (${code}).\n`,
    );
  });
  process.on("exit", () => {
    if (code !== undefined) process.exitCode = 1;
  });
}

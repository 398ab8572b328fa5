/** Work that moves money and is apart from any request: it asks the rows what is due, so nothing is lost with a process.
 *  Any number of processes may run it. */
export interface LoopSpec {
  readonly name: string;
  readonly everyMs: number;
  /** One turn; how many things it looked at. */
  turn(): Promise<number>;
}

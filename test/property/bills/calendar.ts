/** When cycles begin, reckoned as a person with a calendar does: month by month, day by day. */
interface Terms {
  readonly interval: string;
  readonly intervalCount: number;
  readonly anchorAt: string;
}

const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const daysOf = (year: number, month: number) =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;

export function beginOf({ interval, intervalCount, anchorAt }: Terms, cycle: number): string {
  const [date = "", time = ""] = anchorAt.split("T");
  let [year = 0, month = 0, day = 0] = date.split("-").map(Number);
  const anchorDay = day;
  const months = interval === "month" ? 1 : interval === "year" ? 12 : 0;
  const days = interval === "day" ? 1 : interval === "week" ? 7 : 0;
  for (let left = cycle * intervalCount * months; left > 0; left -= 1) {
    month += 1;
    if (month > 12) [year, month] = [year + 1, 1];
    day = Math.min(anchorDay, daysOf(year, month));
  }
  for (let left = cycle * intervalCount * days; left > 0; left -= 1) {
    day += 1;
    if (day > daysOf(year, month)) [month, day] = [month + 1, 1];
    if (month > 12) [year, month] = [year + 1, 1];
  }
  const two = (value: number) => String(value).padStart(2, "0");
  return `${year}-${two(month)}-${two(day)}T${time}`;
}

/** Days as a filter has them, both included, as the instants that the API takes. What is no day goes on as it is, for the
 *  schema to say so. */
export function instantsOf({
  from,
  to,
}: {
  readonly from: string | undefined;
  readonly to: string | undefined;
}) {
  return {
    from: from === undefined ? undefined : `${from}T00:00:00Z`,
    to: to === undefined ? undefined : dayAfter(to),
  };
}

function dayAfter(day: string): string {
  const at = new Date(`${day}T24:00:00Z`);
  return Number.isNaN(at.getTime()) ? day : at.toISOString();
}

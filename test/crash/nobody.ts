/** A recipient whom every next hop refuses. */
export const NOBODY = 'nobody@example.net';

/** What a next hop says to RCPT. */
export function refuseNobody({ argument }: { readonly argument: string }): string | undefined {
  return argument.includes(`<${NOBODY}>`) ? '550 5.1.1 Nobody has this name' : undefined;
}

/** What servers say when they take a message, with what they call it. The first that matches counts. */
const FORMS: readonly RegExp[] = [
  // Postfix, Haraka, SendGrid, Waybill: `Ok: queued as 4Q2xYz1`
  /\bqueued as <?([\w.@+-]{1,200})>?/i,
  // Exim: `OK id=1rAbCd-0001aB-2C`
  /\bid=<?([\w.@+-]{1,200})>?/,
  // Exchange: `<…> [InternalId=1234, Hostname=…] … Queued mail for delivery`
  /\bInternalId=(\d{1,30})\b/,
  // Gmail: `OK  1700000000 a1-20020a0562.123 - gsmtp`
  /^OK\s+\d+ ([\w.-]{1,200}) - gsmtp$/,
  // sendmail, OpenSMTPD: `3AB1cD2e012345 Message accepted for delivery`
  /^(?:Ok:? )?([\w.-]{6,200}):? Message accepted for delivery/i,
  // qmail: `ok 1700000000 qp 12345`
  /^ok \d+ (qp \d{1,20})$/,
  // Amazon SES: `Ok 0102018c0f1e2d3c-…-000000`
  /^Ok ([\w-]{20,200})$/,
];

/** The id in the text of a positive reply to the final dot, without its enhanced code; null when there is none. */
export function providerMessageId(text: string): string | null {
  for (const form of FORMS) {
    const id = form.exec(text)?.[1];
    if (id !== undefined) return id;
  }
  return null;
}

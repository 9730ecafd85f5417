/**
 * How the log of requests shows what a client said and was told: without addresses, which may be those of people.
 * A file of its own: what is shown is a promise, and held alone.
 */

const MAX_HELLO = 80;
const MAX_REPLY = 200;
const CUT = '…';

/** What may be an address, whole or in part, and what stands between angle brackets. */
const ADDRESSES = /<[^>]*>?|"[^"]*"@\S*|[^\s<>,;:()[\]]*@[^\s<>,;()]*/g;
const POSTMASTER = /^<postmaster>$/i;

/** The name of EHLO: a host name or an address literal, or what a device calls itself. */
export function shownHello(name: string): string {
  return shortened(withoutAddresses(name), MAX_HELLO);
}

/** The text of a reply. */
export function shownReply(text: string): string {
  return shortened(withoutAddresses(text), MAX_REPLY);
}

function withoutAddresses(text: string): string {
  return text.replaceAll(ADDRESSES, (found) => {
    if (POSTMASTER.test(found)) return found;
    return found.startsWith('<') ? `<${CUT}>` : CUT;
  });
}

function shortened(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}${CUT}` : text;
}

import { serverName } from '../../config/names.ts';
import type { Config } from '../../config/schema.ts';
import { type Finding, fail, ok, skipped, warn } from './finding.ts';
import type { Check, Dialogue, Premises } from './premises.ts';
import { isRangeInside, prefixOf, setOf } from './ranges.ts';

const NAME = 'open relay';
const KEY = 'listener.allowed_cidrs';
/** A public range with fewer fixed bits than these is more than one customer's network. */
const WIDE_IPV4 = 16;
const WIDE_IPV6 = 32;
/** Ranges with so few are the world, or a good part of it. */
const WORLD = 7;
/** An address that nobody has (RFC 2606): were it taken, we would relay to anybody. */
const STRANGER = 'open-relay-test@example.com';

/**
 * Whether strangers can send mail through us: what the settings allow, and, from an address of this machine that they do
 * not allow, what the listener really answers.
 */
export const openRelayCheck: Check = async (premises, signal) => {
  const { config } = premises.loaded;
  const { ports, implicitTlsPorts } = config.listener;
  if (ports.length + implicitTlsPorts.length === 0)
    return [skipped(NAME, 'The SMTP listener is switched off.')];
  return [...byPolicy(config.listener), ...(await byDialogue(premises, signal))];
};

function byPolicy({ allowedCidrs: ranges, requireAuth }: Config['listener']): Finding[] {
  if (requireAuth) return [ok(NAME, 'Everybody needs a key (listener.require_auth).')];
  const good = ranges.filter(isRangeInside);
  const others = ranges.filter((range) => !good.includes(range));
  const cure = `listener: { allowed_cidrs: ${JSON.stringify(good.length > 0 ? good : ['127.0.0.0/8', '::1/128'])} }  # and a key for everybody else: waybill keys create NAME`;
  const world = others.filter((range) => prefixOf(range) <= WORLD);
  if (world.length > 0)
    return [fail(NAME, `${KEY} has ${world.join(', ')}: anybody can send mail to anybody.`, cure)];
  const wide = others.filter((range) => prefixOf(range) < (range.includes(':') ? WIDE_IPV6 : WIDE_IPV4));
  if (wide.length > 0)
    return [warn(NAME, `${KEY} has ${wide.join(', ')}: public ranges of very many machines.`, cure)];
  return [ok(NAME, `Without a key only these may send: ${ranges.join(', ')}.`)];
}

/** Asks the running listener to relay for a stranger, and breaks off before any mail. */
async function byDialogue(premises: Premises, signal: AbortSignal): Promise<Finding[]> {
  const { bound, machine, loaded, takeBackDenied } = premises;
  const { config } = loaded;
  const [port] = bound?.smtp ?? [];
  if (port === undefined)
    return [skipped(`${NAME} test`, 'No server with an SMTP port runs, so nobody could be asked.')];
  const allowed = setOf(config.listener.allowedCidrs);
  const from = machine.addresses().find((address) => !allowed.contains(address));
  if (from === undefined)
    return [
      skipped(
        `${NAME} test`,
        `Every address of this machine may send by ${KEY}, so no stranger could be played.`,
      ),
    ];
  const host = serverName(config);
  const lines = [`EHLO ${host}`, `MAIL FROM:<open-relay-test@${host}>`, `RCPT TO:<${STRANGER}>`];
  const heard = await machine.dialogue(from, port, lines, signal);
  // Nobody is to be offered to allow what only we tried.
  if (heard.replies.length > lines.length && !isTaken(heard, lines.length))
    takeBackDenied(from, 'relay_not_allowed');
  return [verdict(heard, from, port, lines.length)];
}

/** Whether the last line, RCPT, was taken. */
function isTaken({ replies }: Dialogue, lines: number): boolean {
  return replies.length > lines && replies.at(-1)?.startsWith('2') === true;
}

/** Only a taken RCPT is an open relay. */
function verdict(heard: Dialogue, from: string, port: number, lines: number): Finding {
  const name = `${NAME} test`;
  const { connected, replies } = heard;
  if (!connected) return ok(name, `Port ${port} does not answer at ${from}: strangers cannot even connect.`);
  const last = replies.at(-1) ?? '';
  if (!isTaken(heard, lines))
    return ok(name, `From ${from}, mail to a stranger is refused: ${last || 'the connection was closed'}`);
  return fail(
    name,
    `From ${from}, which ${KEY} does not list, RCPT TO:<${STRANGER}> was taken: ${last}`,
    'listener: { require_auth: true }',
  );
}

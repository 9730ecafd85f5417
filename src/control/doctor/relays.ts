import { relayOfLane } from '../../domain/lane.ts';
import { beginsAfter, dayOf, dayText, spentText } from '../../domain/quota.ts';
import { INBOX, type Relay } from '../../domain/relay.ts';
import type { Finding } from '../../operations/system.ts';
import type { ProbeStep } from '../../transport/transport.ts';
import { isWarming, MAX_AGE, spentAllowance, warmUpBegins } from '../relay-views.ts';
import { fail, ok, skipped, warn } from './finding.ts';
import type { Check, Premises } from './premises.ts';

/** Most relays to check. */
const MAX_RELAYS = 50;

/** Whether mail can leave: connects to each smarthost and provider, up to its readiness for mail. */
export const relaysCheck: Check = async (premises, signal) => {
  const { relays, delivery } = premises.loaded.config;
  const outward = relays.filter(({ type }) => type !== 'inbox').slice(0, MAX_RELAYS);
  const captured =
    delivery.defaultRelay === INBOX
      ? [
          warn(
            'default relay',
            `Mail that no rule routes is only captured in ${INBOX}, and never sent.`,
            'waybill relays add out --type smtp --host smtp.example.net --username u --password-file f --default',
          ),
        ]
      : [];
  const found = await Promise.all(outward.map((relay) => lookAt(relay, premises, signal)));
  return [...captured, ...found, ...outward.flatMap((relay) => warmUpOf(relay, premises))];
};

/** A warm-up in the future keeps a relay from sending anything, which looks like a fault if it was forgotten. */
function warmUpOf(relay: Relay, { clock, loaded }: Premises): Finding[] {
  const { name } = relay;
  const begins = warmUpBegins(relay, loaded.config, clock.wall());
  if (begins === null) return [];
  const { start, outlivesMail } = begins;
  const lost = outlivesMail
    ? ` Mail that is accepted now and has no other relay expires before that (${MAX_AGE}).`
    : '';
  return [
    warn(
      `warm-up of ${name}`,
      `It begins on ${start} (UTC): until then ${name} sends nothing, and its mail goes to the next relay of its group, or waits.${lost}`,
      `relays: [{ name: ${name}, warmup_start: ${dayText(dayOf(clock.wall()))} }]  # to begin today`,
    ),
  ];
}

async function lookAt(relay: Relay, premises: Premises, signal: AbortSignal): Promise<Finding> {
  const name = `relay ${relay.name}`;
  if (premises.loaded.config.unreadableRelays.includes(relay.name))
    return fail(
      name,
      `Its ${relay.provider === null ? 'password' : 'secret'} cannot be read with the present key; its mail waits.`,
      `put back the earlier secret.key; or remove it and add it again: waybill relays remove ${relay.name}`,
    );
  if (relay.disabled)
    return warn(name, 'It is disabled and sends nothing.', `waybill relays enable ${relay.name}`);
  const { smtp, provider } = relay;
  if (smtp !== null) {
    const steps = premises.probe(smtp, signal);
    return await readiness(relay.name, `${smtp.host} port ${smtp.port}`, steps, signal);
  }
  if (provider !== null) {
    const steps = premises.probeProvider(provider, signal);
    return await readiness(relay.name, provider.endpoint, steps, signal);
  }
  return await askForMx(name, premises, signal);
}

/** The result of a dialogue that sends nothing. */
async function readiness(
  relay: string,
  place: string,
  conversation: AsyncIterable<ProbeStep>,
  signal: AbortSignal,
): Promise<Finding> {
  const name = `relay ${relay}`;
  const steps: ProbeStep[] = [];
  // Its steps so far are reported when time is up, not lost.
  const over = new Promise<'over'>((resolve) =>
    signal.addEventListener('abort', () => resolve('over'), { once: true }),
  );
  const talk = (async () => {
    for await (const step of conversation) steps.push(step);
  })();
  await Promise.race([talk, over]);
  const last = steps.at(-1);
  if (last?.ok === true && last.name === 'READY')
    return ok(name, `${place} is ready for mail, after ${last.atMs} ms.`);
  const said = last === undefined ? 'it does not answer' : `${last.name}: ${last.detail}`;
  const test = `waybill relays test ${relay}`;
  return fail(name, `${place} cannot be used: ${said}`, `${cureOf(last)}: ${test}`);
}

/** What a person must do before the next test, as the beginning of the cure. */
function cureOf(last: ProbeStep | undefined): string {
  switch (last?.code) {
    case 'auth_failed':
    case 'token_refused':
    case 'provider_401':
    case 'provider_403':
      return 'correct its user name or secret, then';
    case 'greeting_refused':
      return "ask its operator why it refuses this machine's address, then";
    default:
      return 'show the whole conversation';
  }
}

/** The hosts of an mx relay depend on the mail; without DNS it finds none. */
async function askForMx(name: string, { resolver }: Premises, signal: AbortSignal): Promise<Finding> {
  const answer = await resolver.resolve('example.com', 'MX', signal);
  if (answer.kind === 'failed')
    return fail(
      name,
      `The DNS does not answer (${answer.text}): no recipient's server can be found.`,
      'dns: { servers: ["127.0.0.1"] }  # servers that answer from here',
    );
  return ok(
    name,
    'The DNS answers. Only a connection to another server shows whether port 25 is open outwards.',
  );
}

const QUOTAS = 'quotas';
/** Most lanes to examine. */
const MAX_LANES = 10_000;

/** Whether a relay has used up its daily quota, and mail waits for another day. A warm-up step is not a fault. */
export const quotasCheck: Check = async ({ loaded: { config }, views, clock }) => {
  const now = clock.wall();
  const day = dayOf(now);
  const limited = config.relays.filter(({ limits }) => limits.maxPerDay > 0 || limits.warmUp !== null);
  if (limited.length === 0) return [ok(QUOTAS, 'No relay has a daily limit.')];
  if (views === null) return [skipped(QUOTAS, 'The database is not open.')];
  const used = await views.quotaUsed(day);
  // A warm-up that begins on another day is reported with the relays.
  const spent = limited.filter(
    (relay) => spentAllowance(relay, day, used) !== null && beginsAfter(day, relay.limits) === null,
  );
  if (spent.length === 0) return [ok(QUOTAS, 'No relay has used up today’s quota.')];
  const lanes = await views.lanes(null, MAX_LANES);
  return spent.map((relay) => {
    const own = lanes.filter(({ lane }) => relayOfLane(lane) === relay.name);
    const waiting = own.reduce((sum, lane) => sum + lane.waiting, 0);
    const warming = isWarming(relay, day);
    const allowance = spentAllowance(relay, day, used) ?? 0;
    const text = spentText({ relay: relay.name, allowance, warming, begins: null, waiting, latenessMs: 0 });
    const name = `quota of ${relay.name}`;
    if (waiting === 0 || warming) return ok(name, text);
    return warn(
      name,
      text,
      `let another relay send the rest, in its rule: via: [${relay.name}, other]; or allow more: max_per_day of ${relay.name}`,
    );
  });
};

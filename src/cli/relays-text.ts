import type { RelayDetail, RelayTest, RelayView } from '../operations/relays.ts';
import { clip, fittingTable } from './fitting.ts';
import { laneStateText } from './queue-text.ts';
import { oneLine, table } from './terminal.ts';

/** All relays as a table. On a terminal that is too narrow for it, what a relay is stands below what it does. */
export function relayTable(relays: readonly RelayView[], columns: number | null): string {
  const name = (relay: RelayView) => (relay.isDefault ? `${relay.name} (default)` : relay.name);
  const rows = relays.map((relay) => [
    name(relay),
    relay.type,
    destinationOf(relay),
    relay.tls ?? '',
    relay.origin,
    stateOf(relay),
    String(relay.waiting),
    String(relay.processing),
    todayOf(relay),
  ]);
  const whole = table(['NAME', 'TYPE', 'TO', 'TLS', 'FROM', 'STATE', 'WAITING', 'PROCESSING', 'TODAY'], rows);
  if (columns === null || whole.split('\n').every((line) => [...line].length <= columns)) return whole;
  const short = relays.map((relay) => [
    name(relay),
    relay.type,
    stateOf(relay),
    String(relay.waiting),
    String(relay.processing),
    shortTodayOf(relay),
  ]);
  const headings = ['NAME', 'TYPE', 'STATE', 'WAITING', 'SENDING', 'TODAY'];
  const [head = '', ...lines] = fittingTable(headings, short, columns).split('\n');
  return [head, ...relays.flatMap((relay, place) => [lines[place] ?? '', below(relay, columns)])].join('\n');
}

/** A relay by itself: the table's line, then what is known of it besides. */
export function detailText(relay: RelayDetail): string {
  const { definition, hasSecret, rules, history } = relay;
  const fields = Object.entries(definition ?? {}).map(
    ([name, value]) => `  ${name}: ${JSON.stringify(value)}`,
  );
  const happened = history.map(({ at, lane, kind, pauseMs, cause }) =>
    kind === 'rested'
      ? `  ${at} ${lane} rests for ${Math.round((pauseMs ?? 0) / 1000)} s: ${oneLine(cause ?? '')}`
      : `  ${at} ${lane} works again`,
  );
  return [
    relayTable([relay], null),
    ...(fields.length === 0 ? [] : ['', 'Definition:', ...fields]),
    '',
    `Secret: ${hasSecret ? 'stored' : 'none'}`,
    `Rules: ${rules.length === 0 ? 'none' : rules.join(', ')}`,
    ...(happened.length === 0 ? [] : ['', 'Since the server started:', ...happened]),
  ].join('\n');
}

function below(relay: RelayView, columns: number): string {
  const tls = relay.tls === null ? '' : `, TLS ${relay.tls}`;
  return clip(oneLine(`  ${relay.origin}, to ${destinationOf(relay)}${tls}`), columns);
}

/** What is said of a relay that was added; `tryOut` ends the command that tries it. */
export function addedText({ name, warmUp }: RelayView, tryOut: string): string {
  const added = `Added ${name}. Try it with: waybill relays test ${name}${tryOut}`;
  if (warmUp === null || warmUp.day !== 0) return added;
  const wait = `Its warm-up begins on ${warmUp.start} (UTC): it sends nothing before.`;
  const lost = warmUp.outlivesMail
    ? ' WARNING: mail that is accepted now expires before that (delivery.max_age_hours), unless another relay of its group accepts it.'
    : '';
  return `${added}\n${wait}${lost}`;
}

/** A step of a test, as a line. */
export function stepLine({ name, ok, detail, atMs }: RelayTest['steps'][number]): string {
  return `${ok ? 'ok    ' : 'failed'} ${String(atMs).padStart(6)} ms  ${oneLine(name)}  ${oneLine(detail)}`;
}

function destinationOf({ type, host, port, endpoint }: RelayView): string {
  if (type === 'mx') return `recipients' MX, port ${port}`;
  if (endpoint !== null) return endpoint;
  return host === null ? 'local capture' : `${host}:${port}`;
}

function stateOf(relay: RelayView): string {
  return relay.credentialsUnreadable ? 'credentials_unreadable' : laneStateText(relay.state);
}

/** How much of a day's recipients is used, where they are bounded, and how far the warm-up is. */
function todayOf({ allowedToday, usedToday, warmUp }: RelayView): string {
  const used = allowedToday === null ? '' : `${usedToday ?? 0} of ${allowedToday}`;
  if (warmUp === null || warmUp.day === null) return used;
  if (warmUp.day === 0) return `${used} (warm-up begins ${warmUp.start})`;
  return `${used} (day ${warmUp.day} of ${warmUp.days} of warm-up)`;
}

/** As {@link todayOf}, without words. */
function shortTodayOf({ allowedToday, usedToday, warmUp }: RelayView): string {
  const used = allowedToday === null ? '' : `${usedToday ?? 0}/${allowedToday}`;
  if (warmUp === null || warmUp.day === null) return used;
  return warmUp.day === 0 ? `${used} from ${warmUp.start}` : `${used} day ${warmUp.day}/${warmUp.days}`;
}

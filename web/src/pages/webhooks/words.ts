import type { ResultOf } from '../../../../src/operations/table.ts';
import type { Tone } from '../../parts/badge.tsx';

/** An endpoint as the server tells of it. */
export type Endpoint = ResultOf<'listWebhooks'>['webhooks'][number];
/** A type of event. */
export type EventType = ResultOf<'events'>['events'][number]['type'];

/** How an endpoint fares; `off`: somebody has disabled it. */
export type EndpointState = Endpoint['health']['state'] | 'off';

/** How an endpoint fares, of those that are off, too. */
export function stateOf({ enabled, health }: Pick<Endpoint, 'enabled' | 'health'>): EndpointState {
  return enabled ? health.state : 'off';
}

/** Whether an endpoint is told of nothing until it is enabled: nothing can be replayed to it either. */
export function isDown(of: Pick<Endpoint, 'enabled' | 'health'>): boolean {
  return ['off', 'disabled'].includes(stateOf(of));
}

/** Whether it can be enabled here: one that the file switches off only there, one that failed everywhere. */
export function mayEnable(of: Pick<Endpoint, 'enabled' | 'health' | 'source'>): boolean {
  return isDown(of) && (of.source === 'api' || of.enabled);
}

/** What each state is called, its colour, and what it means. */
export const STATES: Readonly<Record<EndpointState, { name: string; tone: Tone; means: string }>> = {
  healthy: { name: 'Healthy', tone: 'good', means: 'It takes what it is told.' },
  failing: {
    name: 'Failing',
    tone: 'warn',
    means: 'One event at a time is tried, the oldest first. The others wait, without using up their tries.',
  },
  disabled: {
    name: 'Disabled',
    tone: 'bad',
    means: 'Nothing is posted to it until it is enabled.',
  },
  off: { name: 'Off', tone: 'neutral', means: 'Nothing is posted to it until it is enabled.' },
};

/** What each type of event means, after "An event for each …". */
export const EVENTS: Readonly<Record<EventType, string>> = {
  'message.queued': 'a message was accepted',
  'message.delivered': 'the next hop took it',
  'message.captured': 'only captured here',
  'message.deferred': 'an attempt failed; another follows',
  'message.failed': 'it will not be delivered',
  'message.suppressed': 'not sent: on the suppression list',
  'message.bounced': 'it came back after delivery',
  'message.confirmed': 'the recipient’s own server took it',
  'message.delayed': 'a server behind the next hop still tries',
  'message.complained': 'the recipient called it spam',
  'message.unsubscribed': 'the recipient wants no more of it',
  'suppression.added': 'an address gets no mail any more',
  'suppression.removed': 'an address gets mail again',
  'suppression.guarded': 'too many refusals at once to believe',
  'relay.resting': 'its next hop fails',
  'relay.recovered': 'its next hop works again',
  'webhook.disabled': 'an endpoint is told of nothing any more',
  'webhook.test': 'somebody tested this one',
};

/** The subjects of events, and what each is called. */
const SUBJECTS: Readonly<Record<string, string>> = {
  message: 'Messages',
  suppression: 'The suppression list',
  relay: 'Relays',
  webhook: 'Webhooks',
};

/** Types of one subject. */
export interface EventGroup {
  readonly name: string;
  /** Stands for all of them, and for those that later versions add. */
  readonly all: string;
  readonly types: readonly EventType[];
}

/** All types, by their subjects. */
export const EVENT_GROUPS: readonly EventGroup[] = Object.entries(SUBJECTS).map(([subject, name]) => ({
  name,
  all: `${subject}.*`,
  // A test is posted to an endpoint whatever it is told of.
  types: (Object.keys(EVENTS) as EventType[]).filter(
    (type) => type.startsWith(`${subject}.`) && type !== 'webhook.test',
  ),
}));

/** Whether types that were chosen have one among them. */
export function hasType(chosen: readonly string[], { all }: EventGroup, type: string): boolean {
  return chosen.includes(all) || chosen.includes(type);
}

/** The choice with all types of a group, or none of them. */
export function withGroup(chosen: readonly string[], group: EventGroup, on: boolean): readonly string[] {
  const others = chosen.filter((one) => !isOf(group, one));
  return on ? [...others, group.all] : others;
}

/** The choice with a type, or without it: then the others of its group are named one by one. */
export function withType(
  chosen: readonly string[],
  group: EventGroup,
  type: string,
  on: boolean,
): readonly string[] {
  const had = group.types.filter((one) => hasType(chosen, group, one));
  const named = group.types.filter((one) => (one === type ? on : had.includes(one)));
  return [...chosen.filter((one) => !isOf(group, one)), ...named];
}

function isOf({ all }: EventGroup, type: string): boolean {
  return type.startsWith(all.slice(0, -1));
}

/** Crockford's base32, in which ids are written. */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

/** When an event happened, in ms: its id begins with it. Null for the id of one that is no longer kept. */
export function timeOfEvent(id: string): number | null {
  const [, time = ''] = /^evt_([0-9a-hjkmnp-tv-z]{10})/.exec(id) ?? [];
  const ms = [...time].reduce((sum, digit) => sum * DIGITS.length + DIGITS.indexOf(digit), 0);
  return ms === 0 ? null : ms;
}

import { expect, test } from 'vitest';
import { EVENT_TYPES } from '../../../../src/domain/event.ts';
import { eventId } from '../../../../src/lib/id.ts';
import { fieldOfTime, missedSince, timeOfField } from './missed.ts';
import { changeOf, checkWebhook, formOf, NEW_WEBHOOK, requestOf } from './webhook-form.ts';
import {
  type Endpoint,
  EVENT_GROUPS,
  EVENTS,
  mayEnable,
  stateOf,
  timeOfEvent,
  withGroup,
  withType,
} from './words.ts';

const NOW = Date.UTC(2026, 10, 27, 21, 0, 0, 123);
const ENDPOINT: Endpoint = {
  id: 'whe_1',
  url: 'https://shop.example.com/waybill',
  types: ['message.bounced', 'relay.*'],
  key: null,
  keys: ['shop'],
  tags: ['two words'],
  description: 'Orders',
  include: ['subject'],
  enabled: true,
  headers: { Authorization: 'Bearer x' },
  health: { state: 'healthy', failures: 0, failingSince: null, reason: null },
  source: 'api',
  pending: 0,
  createdAt: '2026-11-20T00:00:00.000Z',
  updatedAt: '2026-11-20T00:00:00.000Z',
};
const [MESSAGES] = EVENT_GROUPS;

test('every type of event has its words, and its group', () => {
  expect(Object.keys(EVENTS)).toEqual(Object.keys(EVENT_TYPES));
  const asked = Object.keys(EVENT_TYPES).filter((type) => type !== 'webhook.test');
  expect(EVENT_GROUPS.flatMap(({ types }) => types)).toEqual(asked);
});

test('a group is chosen as a whole, and one by one when one of it is left out', () => {
  if (MESSAGES === undefined) throw new Error('no group');
  const without = withType(['relay.resting', 'message.*'], MESSAGES, 'message.queued', false);
  expect(without).toEqual(['relay.resting', ...MESSAGES.types.filter((type) => type !== 'message.queued')]);
  expect(withType([], MESSAGES, 'message.bounced', true)).toEqual(['message.bounced']);
  expect(withGroup(without, MESSAGES, true)).toEqual(['relay.resting', 'message.*']);
  expect(withGroup(['relay.resting', 'message.*'], MESSAGES, false)).toEqual(['relay.resting']);
});

test('somebody who disabled an endpoint comes before how it fares', () => {
  expect(stateOf({ ...ENDPOINT, enabled: false })).toBe('off');
  expect(stateOf(ENDPOINT)).toBe('healthy');
});

test('one of the file is enabled here after it failed, and not against the file', () => {
  const disabled = { ...ENDPOINT.health, state: 'disabled' } as const;
  const inFile = { ...ENDPOINT, source: 'file' } as const;
  expect(mayEnable({ ...inFile, health: disabled })).toBe(true);
  expect(mayEnable({ ...inFile, enabled: false })).toBe(false);
  expect(mayEnable({ ...ENDPOINT, enabled: false })).toBe(true);
  expect(mayEnable(ENDPOINT)).toBe(false);
});

test('a form asks for what it was made from', () => {
  const { url, description, types, keys, tags, include, headers } = ENDPOINT;
  expect(requestOf(formOf(ENDPOINT))).toEqual({ url, description, types, keys, tags, include, headers });
  const empty = { name: ' ', value: '' };
  expect(requestOf({ ...NEW_WEBHOOK, url: ' x ', headers: [empty] })).toMatchObject({
    url: 'x',
    headers: {},
  });
});

test('a form says what is wrong with it by itself', () => {
  const wrong = (part: Partial<typeof NEW_WEBHOOK>) =>
    Object.entries(checkWebhook({ ...NEW_WEBHOOK, url: 'x', ...part })).flatMap(([name, fault]) =>
      fault === null ? [] : [name],
    );
  expect(wrong({})).toEqual([]);
  expect(wrong({ url: ' ', types: [] })).toEqual(['url', 'types']);
  expect(wrong({ headers: [{ name: '', value: 'x' }] })).toEqual(['headers']);
  const twice = ['X-Team', 'x-team '].map((name) => ({ name, value: 'x' }));
  expect(wrong({ headers: twice })).toEqual(['headers']);
});

test('the time of an event is read from its id', () => {
  expect(timeOfEvent(eventId(NOW, 4711))).toBe(NOW);
  expect([eventId(0, 4711), 'evt_', 'msg_01m8f44rtq28jbhmd946602e71'].map(timeOfEvent)).toEqual([
    null,
    null,
    null,
  ]);
});

test('what an endpoint missed begins where it was told of nothing any more', () => {
  const created = Date.parse(ENDPOINT.createdAt);
  expect(missedSince(ENDPOINT, eventId(NOW, 7))).toBe(NOW);
  expect(missedSince(ENDPOINT, null)).toBe(created);
  const failingSince = '2026-11-22T00:00:00.000Z';
  const health = { ...ENDPOINT.health, state: 'disabled', failingSince } as const;
  expect(missedSince({ ...ENDPOINT, health }, eventId(NOW, 7))).toBeLessThan(Date.parse(failingSince));
  expect(missedSince({ ...ENDPOINT, health }, null)).toBeLessThan(created);
});

test('times are written and read in UTC, and never later than they are', () => {
  expect(fieldOfTime(NOW)).toBe('2026-11-27T21:00:00');
  expect(timeOfField(fieldOfTime(NOW))).toBe('2026-11-27T21:00:00.000Z');
  expect(['', 'tomorrow'].map(timeOfField)).toEqual([null, null]);
});

test('a change names only what differs', () => {
  const form = formOf(ENDPOINT);
  expect(changeOf(ENDPOINT, form)).toEqual({});
  expect(changeOf(ENDPOINT, { ...form, description: 'Bills', subject: false })).toEqual({
    description: 'Bills',
    include: [],
  });
});

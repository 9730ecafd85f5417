import { expect, test } from 'vitest';
import { type Alert, noticeWords, secondsWords, stateOf } from './words.ts';

test.each([
  [0, 'at once'],
  [1, '1 second'],
  [90, '90 seconds'],
  [900, '15 minutes'],
  [3_600, '1 hour'],
  [172_800, '2 days'],
])('%i seconds are %s', (seconds, words) => {
  expect(secondsWords(seconds)).toBe(words);
});

const FIRING = {
  state: 'firing',
  silenced: false,
  toldAt: '2026-11-28T05:00:00Z',
  severity: 'critical',
} as Alert;

test('a state has a name, and the colour of its severity while it fires', () => {
  expect(stateOf(FIRING)).toEqual({ name: 'Firing', tone: 'bad', means: 'Channels were told.' });
  expect(stateOf({ ...FIRING, toldAt: null }).means).toBe('Nobody was told yet.');
  expect(stateOf({ ...FIRING, silenced: true })).toMatchObject({ name: 'Silenced', tone: 'neutral' });
  expect(stateOf({ ...FIRING, state: 'pending' })).toMatchObject({ name: 'Pending', tone: 'neutral' });
  expect(stateOf({ ...FIRING, state: 'resolved' })).toMatchObject({ name: 'Over', tone: 'good' });
});

test('what a channel was told says why it was not', () => {
  const notice = {
    channel: 'ops',
    kind: 'fired',
    state: 'pending',
    tries: 1,
    at: '',
    error: 'It answered 500.',
  } as const;
  expect(noticeWords(notice)).toBe('could not be told that it fires yet: It answered 500.');
  expect(noticeWords({ ...notice, tries: 0 })).toBe('is being told that it fires');
  expect(noticeWords({ ...notice, kind: 'resolved', state: 'sent' })).toBe('was told that it is over');
  expect(noticeWords({ ...notice, state: 'failed' })).toBe(
    'could not be told that it fires: It answered 500.',
  );
  expect(noticeWords({ ...notice, state: 'dropped' })).toBe(
    'was not told that it fires: it was over, or the channel was off, before',
  );
});

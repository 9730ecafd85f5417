import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import type { ToldReport } from '../control/nodes/sight.ts';
import type { NodeStatus } from '../observe/health-report.ts';
import type { Topic } from '../operations/operation.ts';
import { tellNewsOfOthers } from './dashboard.ts';

const OTHER: NodeStatus = {
  id: 'b-1',
  name: 'b',
  roles: [],
  version: '1.0.0',
  lastSeenAt: 0,
  missing: false,
};

function told(news: Readonly<Record<string, number>>): ToldReport {
  return {
    node: 'b-1',
    relays: [],
    lanes: [],
    denied: [],
    happenings: [],
    checks: [],
    certificateEndsAt: null,
    news,
  };
}

/** A dashboard beside one other node, whose news a test changes. */
function setUp() {
  const clock = new ManualClock();
  const others = { reports: [told({ messages: 3 })], nodes: [OTHER] };
  const noted: Topic[][] = [];
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const nodes = { reports: () => others.reports, nodes: () => others.nodes };
  const feed = { note: (topics: readonly Topic[]) => void noted.push([...topics]) };
  void tellNewsOfOthers({ nodes, feed, clock, signal: ended.signal });
  return { clock, others, noted: () => noted.splice(0).flat() };
}

test('what has changed on another node is told once', async () => {
  const { clock, others, noted } = setUp();
  await clock.advance(3_000);
  expect(noted()).toEqual([]);
  others.reports = [told({ messages: 4, keys: 1 })];
  await clock.advance(1_000);
  expect(noted()).toEqual(['messages', 'keys']);
  await clock.advance(3_000);
  expect(noted()).toEqual([]);
});

test('what another version calls news, and no page knows, is left out', async () => {
  const { clock, others, noted } = setUp();
  others.reports = [told({ messages: 3, weather: 9 })];
  await clock.advance(2_000);
  expect(noted()).toEqual([]);
});

test('of a node that was silent, only what happened meanwhile is told', async () => {
  const { clock, others, noted } = setUp();
  others.reports = [];
  await clock.advance(5_000);
  others.reports = [told({ messages: 3, queue: 1 })];
  await clock.advance(1_000);
  expect(noted()).toEqual(['queue']);
});

test('that a node comes, is missing or goes is news of health', async () => {
  const { clock, others, noted } = setUp();
  others.nodes = [OTHER, { ...OTHER, id: 'c-2' }];
  await clock.advance(1_000);
  expect(noted()).toEqual(['health']);
  others.nodes = [{ ...OTHER, missing: true }];
  await clock.advance(1_000);
  expect(noted()).toEqual(['health']);
});

/** Reports to senders by one engine over a real store, in virtual time: what is written, when, and what never is. */
import { describe, expect, test } from 'vitest';
import type { Submission } from '../../src/domain/message.ts';
import { SpoolError } from '../../src/spool/spool.ts';
import { StoreError } from '../../src/store/store.ts';
import {
  DEFERRED,
  hand,
  letter,
  MINUTE,
  namedIn,
  OURS,
  REJECTED,
  SENDER,
  type Sent,
  started,
} from './reporting.ts';
import { relayNamed } from './scene.ts';

test('what is refused is reported to its sender at once, in one message without a sender', async () => {
  const node = await started({ bob: REJECTED, eve: REJECTED });
  const id = await hand(node, letter({ bob: null, ann: null, eve: null }));
  await node.run(10_000);
  expect(node.reports()).toHaveLength(1);
  const [report] = node.reports();
  expect(report?.to).toEqual([{ address: SENDER, kind: 'to', notify: 'NEVER', orcpt: null }]);
  expect(namedIn(report)).toEqual(['bob@example.net failed', 'eve@example.net failed']);
  expect(report?.text).toContain('In-Reply-To: <1@example.com>');
  expect(report?.text).toContain('Subject: x');
  expect(report?.text, 'only the header comes back').not.toContain('Hello.');
  const [event] = node.reported();
  expect(event).toMatchObject({ type: 'reported', messageId: id, kind: 'failed', recipients: 2 });
  const record = await node.views.message(event?.type === 'reported' ? event.reportId : '');
  expect(record?.message).toMatchObject({
    source: 'report',
    status: 'delivered',
    envelopeFrom: '',
    keyId: null,
  });
  expect(node.faults()).toEqual([]);
});

test('who asked for the whole message by RET gets it with a failure, and only its header with a success', async () => {
  const full = { envelope: { ...letter({ bob: null }).envelope, ret: 'FULL' as const } };
  const node = await started({ bob: REJECTED });
  await hand(node, letter({}, full));
  const success = { envelope: { ...letter({ ann: 'SUCCESS' }).envelope, ret: 'FULL' as const } };
  await hand(node, letter({}, success));
  await node.run(10_000);
  const texts = node.reports().map(({ text }) => text);
  expect(texts.filter((text) => text.includes('Hello.'))).toHaveLength(1);
  expect(texts.find((text) => text.includes('Hello.'))).toContain('Action: failed');
});

test('a report does not wait for anybody to look for it', async () => {
  const node = await started({ bob: REJECTED });
  await hand(node, letter({ bob: null }));
  await node.run(10);
  expect(node.reports()).toHaveLength(1);
});

test('one attempt is one report, however much it decided', async () => {
  const node = await started({ bob: REJECTED });
  await hand(node, letter({ bob: 'FAILURE', ann: 'SUCCESS', eve: null }));
  await node.run(10_000);
  expect(node.reports().map(namedIn)).toEqual([['bob@example.net failed', 'ann@example.net relayed']]);
});

test('a report that comes to nothing is reported to nobody: no bounce of a bounce', async () => {
  const node = await started({ bob: REJECTED, a: REJECTED });
  await hand(node, letter({ bob: null }));
  await node.run(10 * MINUTE);
  expect(node.reported()).toHaveLength(1);
  expect(node.seen.filter(({ type }) => type === 'accepted')).toHaveLength(2);
});

test.each<[string, Partial<Submission>]>([
  ['without a sender', { envelope: { ...letter({ bob: null }).envelope, reversePath: '' } }],
  ['of a sender who may be forged', { reportable: false }],
  ['of a test key', { test: true }],
])('mail %s is never reported on, when it fails and when it expires', async (_, more) => {
  const node = await started({ bob: REJECTED, slow: DEFERRED });
  await hand(node, letter({ bob: null }, more));
  await hand(
    node,
    letter(
      { slow: null },
      {
        ...more,
        ...(more.envelope && {
          envelope: { ...more.envelope, recipients: letter({ slow: null }).envelope.recipients },
        }),
      },
    ),
  );
  await node.run(8 * MINUTE);
  expect(node.seen.filter(({ type }) => type === 'accepted')).toHaveLength(2);
  expect(node.reports()).toEqual([]);
});

test('who asked for it is told of a delay, once, and later of the end', async () => {
  const node = await started({ slow: DEFERRED });
  await hand(node, letter({ slow: 'DELAY,FAILURE', other: null }));
  await node.run(1.5 * MINUTE);
  expect(node.reports()).toEqual([]);
  await node.run(3 * MINUTE);
  expect(node.reports().map(namedIn)).toEqual([['slow@example.net delayed']]);
  expect(node.reports()[0]?.text).toMatch(/^Will-Retry-Until: /m);
  await node.run(5 * MINUTE);
  expect(node.reports().map(namedIn)).toEqual([['slow@example.net delayed'], ['slow@example.net failed']]);
});

test('what waits too long without a way is reported when it expires, and goes when there is one', async () => {
  const node = await started({});
  node.engine.relays.remove('out');
  await hand(node, letter({ bob: null, never: 'NEVER' }));
  await node.run(7 * MINUTE);
  expect(node.reported()).toMatchObject([{ kind: 'failed', recipients: 1 }]);
  node.engine.relays.put(relayNamed('out'), node.hopNamed(node.sent));
  await node.run(MINUTE);
  expect(node.reports().map(namedIn)).toEqual([['bob@example.net failed']]);
  expect(node.reports()[0]?.text).toContain('Status: 4.4.7');
});

test('an address gets so many reports in an hour; what is beyond is only recorded, and told of', async () => {
  const reports = { ...OURS.reports, perHour: 2 };
  const node = await started({ bob: REJECTED }, { reports });
  for (let n = 0; n < 4; n++) await hand(node, letter({ bob: null }));
  await node.run(10_000);
  expect(node.reports()).toHaveLength(2);
  const suppressed = node.seen.filter(({ type }) => type === 'report_suppressed');
  expect(suppressed).toMatchObject([
    { kind: 'failed', recipients: 1 },
    { kind: 'failed', recipients: 1 },
  ]);
});

test('reports go by the relay for reports, where there is one', async () => {
  const node = await started({ bob: REJECTED }, { reports: { ...OURS.reports, relay: 'back' } });
  const back: Sent[] = [];
  node.engine.relays.put(relayNamed('back'), node.hopNamed(back));
  await hand(node, letter({ bob: null }));
  await node.run(10_000);
  expect(node.reports()).toEqual([]);
  expect(back.map(({ from }) => from)).toEqual(['']);
});

describe('a report and what it tells are recorded together, or not at all', () => {
  test('a settling that is lost to another node leaves no report, and no bytes that are kept', async () => {
    const node = await started({ bob: REJECTED });
    const { settle } = node.store;
    node.store.settle = async (batch) => batch.map(() => ({ kind: 'stale' }));
    await hand(node, letter({ bob: null }));
    await node.run(5_000);
    node.store.settle = settle;
    expect(node.reported()).toEqual([]);
    expect(node.seen.filter(({ type }) => type === 'accepted')).toHaveLength(1);
    // The report's segment is decided, and nothing refers to it.
    expect(await node.store.liveSegments(await node.spool.idle())).toEqual(
      new Map([
        [1, 1],
        [2, 0],
      ]),
    );
  });

  test('a crash between the bytes and the facts leaves no report; the next attempt writes one', async () => {
    const node = await started({ bob: REJECTED });
    const settle = node.store.settle.bind(node.store);
    node.store.settle = async () => {
      throw new StoreError('store_failed', 'the machine stops');
    };
    await hand(node, letter({ bob: null }));
    await node.run(5_000);
    expect(node.seen.filter(({ type }) => type === 'accepted')).toHaveLength(1);
    node.store.settle = settle;
    await node.run(5 * 60_000);
    expect(node.reports()).toHaveLength(1);
  });

  test('a spool without room is waited for, and the report then goes', async () => {
    const node = await started({ bob: REJECTED });
    const append = node.spool.append.bind(node.spool);
    let full = true;
    await hand(node, letter({ bob: null }));
    node.spool.append = async (entries) => {
      if (full) throw new SpoolError('spool_full', 'no room');
      return append(entries);
    };
    await node.run(5_000);
    expect(node.reported()).toEqual([]);
    full = false;
    await node.run(10_000);
    expect(node.reports()).toHaveLength(1);
  });

  test('a spool that is away is waited for as long as it takes, and the report then goes', async () => {
    const node = await started({ bob: REJECTED });
    const append = node.spool.append.bind(node.spool);
    await hand(node, letter({ bob: null }));
    node.spool.append = async () => {
      throw new SpoolError('spool_unavailable', 'its server cannot be reached');
    };
    await node.run(2 * MINUTE);
    expect(node.reported()).toEqual([]);
    node.spool.append = append;
    await node.run(10_000);
    expect(node.reports()).toHaveLength(1);
    expect(node.faults()).toEqual([]);
  });

  test('while a report cannot be written nobody fails of whom it would tell, and all else is recorded', async () => {
    const node = await started({ bob: REJECTED, eve: REJECTED });
    const id = await hand(node, letter({ ann: null, bob: null, eve: 'NEVER' }));
    const append = node.spool.append.bind(node.spool);
    node.spool.append = async () => {
      throw new SpoolError('spool_full', 'no room');
    };
    const states = async () => (await node.views.message(id))?.recipients.map(({ state }) => state);
    await node.run(35_000);
    expect(await states()).toEqual(['delivered', 'retrying', 'failed']);
    expect(node.seen.filter(({ type }) => type === 'report_unwritten')).toEqual([
      { type: 'report_unwritten', messageId: id, kind: 'failed', recipients: 1 },
    ]);
    await node.run(7 * MINUTE);
    expect(await states()).not.toEqual(['delivered', 'failed', 'failed']);
    node.spool.append = append;
    await node.run(2 * MINUTE);
    expect(await states()).toEqual(['delivered', 'failed', 'failed']);
    expect(namedIn(node.reports()[0])).toEqual(['bob@example.net failed']);
    expect(node.reported()).toHaveLength(1);
    expect(node.sent.filter(({ to }) => to[0]?.address === 'ann@example.net')).toHaveLength(1);
    expect(node.faults()).toEqual([]);
  });

  test('a process that ends while the spool is away leaves who failed waiting', async () => {
    const node = await started({ bob: REJECTED });
    const id = await hand(node, letter({ bob: null }));
    node.spool.append = async () => {
      throw new SpoolError('spool_unavailable', 'its server cannot be reached');
    };
    await node.run(10_000);
    await node.engine.stop(AbortSignal.abort());
    expect((await node.views.message(id))?.message).toMatchObject({ status: 'retrying', attempts: 1 });
  });

  test('what expires waits for room to report on it, and keeps no other from expiring', async () => {
    const node = await started({});
    node.engine.relays.remove('out');
    const told = await hand(node, letter({ bob: null }));
    const untold = await hand(node, letter({ bob: null }, { reportable: false }));
    const append = node.spool.append.bind(node.spool);
    node.spool.append = async () => {
      throw new SpoolError('spool_full', 'no room');
    };
    await node.run(7 * MINUTE);
    expect((await node.views.message(told))?.message.status).toBe('queued');
    expect((await node.views.message(untold))?.message).toMatchObject({ outcome: 'expired' });
    node.spool.append = append;
    await node.run(10_000);
    expect((await node.views.message(told))?.message).toMatchObject({ outcome: 'expired' });
    expect(node.reported()).toHaveLength(1);
    expect(node.faults()).toEqual([]);
  });

  test('an expiry that the store cannot write leaves no report, and the next one writes it', async () => {
    const node = await started({}, { reports: { ...OURS.reports, perHour: 1 } });
    node.engine.relays.remove('out');
    await hand(node, letter({ bob: null }));
    const expire = node.store.expire.bind(node.store);
    node.store.expire = async () => {
      throw new StoreError('store_busy', 'too much waits');
    };
    await node.run(7 * MINUTE);
    expect(node.seen.filter(({ type }) => type === 'accepted')).toHaveLength(1);
    node.store.expire = expire;
    await node.run(10_000);
    // What did not go does not count towards the limit.
    expect(node.reported()).toHaveLength(1);
    expect(node.seen.filter(({ type }) => type === 'report_suppressed')).toEqual([]);
    const segments = await node.store.liveSegments(await node.spool.idle());
    expect(
      [...segments.values()].filter((live) => live > 0),
      'the message, and one report',
    ).toHaveLength(2);
  });

  test('a message whose contents are gone is reported without them', async () => {
    const node = await started({ bob: REJECTED });
    node.spool.read = async () => {
      throw new SpoolError('content_missing', 'gone');
    };
    await hand(node, letter({ bob: null }));
    await node.run(1_500);
    expect(node.reported()).toHaveLength(1);
  });

  test('a message that cannot be read for a moment is reported with its header all the same', async () => {
    const node = await started({ bob: REJECTED });
    const read = node.spool.read.bind(node.spool);
    node.spool.read = async () => {
      throw new SpoolError('spool_unavailable', 'its server cannot be reached');
    };
    await hand(node, letter({ bob: null }));
    await node.run(1_500);
    expect(node.reported()).toEqual([]);
    node.spool.read = read;
    await node.run(5_000);
    expect(node.reports()[0]?.text).toContain('Message-ID: <1@example.com>');
  });
});

/** The final dot waits for the gate, and for nothing else; what is stopped before it is never taken. */
import { describe, expect, test } from 'vitest';
import { HANG } from '../../peers/smtp-sink-script.ts';
import { advanceUntil, linesOf, never, only, type Rig, startRig } from './rig.ts';

const SMALL = [Buffer.from('Subject: small\r\n\r\nHello.\r\n')];
const LARGE = [Buffer.from('Subject: large\r\n\r\n'), linesOf(200_000)];

/** What the peer was told, in order. */
const verbs = (rig: Rig) => rig.sink.commands.map(({ line }) => line.split(' ')[0]);

describe.each([
  ['a small message', SMALL],
  ['a large message', LARGE],
])('%s', (_name, content) => {
  test('is taken only after the gate has opened', async () => {
    const rig = await startRig();
    const gate = Promise.withResolvers<boolean>();
    const asked = Promise.withResolvers<void>();
    const delivery = rig.deliver({
      content,
      gate: () => {
        asked.resolve();
        return gate.promise;
      },
    });
    await Promise.race([asked.promise, delivery]);
    // What goes by another connection meanwhile arrives: nothing but the gate holds this one.
    expect(only(await rig.deliver({ content: 'Subject: other\r\n\r\n' })).kind).toBe('delivered');
    expect(rig.sink.messages).toHaveLength(1);
    gate.resolve(true);
    expect(only(await delivery).kind).toBe('delivered');
    expect(rig.sink.messages[1]?.content).toEqual(Buffer.concat(content));
  });

  test('is never taken when the gate stays shut', async () => {
    const rig = await startRig();
    const result = await rig.deliver({ content, gate: async () => false });
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'lease_lost', hopFailed: false });
    expect(only(await rig.deliver()).kind).toBe('delivered');
    expect(rig.sink.messages).toHaveLength(1);
  });

  test('refused before the conversation reaches DATA ends by RSET, and the connection is used again', async () => {
    const refused = new AbortController();
    const RCPT = () => {
      refused.abort();
      return undefined;
    };
    const extensions = ['SIZE 1000000'];
    const rig = await startRig({ pool: { maxConnections: 1 }, sink: { extensions, script: { RCPT } } });
    const mail = { content, refused: refused.signal, gate: async () => !refused.signal.aborted };
    const result = await rig.deliver(mail);
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'lease_lost', hopFailed: false });
    const more = await rig.deliver({
      ...mail,
      refused: new AbortController().signal,
      gate: async () => true,
    });
    expect(only(more).kind).toBe('delivered');
    expect(verbs(rig)).toEqual(['EHLO', 'MAIL', 'RCPT', 'RSET', 'MAIL', 'RCPT', 'DATA']);
    expect(rig.sink.connections).toBe(1);
  });

  test('refused while it waits for a connection ends at once', async () => {
    const rig = await startRig({ pool: { maxConnections: 1 } });
    const gate = Promise.withResolvers<boolean>();
    const first = rig.deliver({ gate: () => gate.promise });
    const refused = new AbortController();
    const second = rig.deliver({ content, refused: refused.signal });
    refused.abort();
    expect(only(await second)).toMatchObject({ kind: 'deferred', hopFailed: false });
    gate.resolve(true);
    expect(only(await first).kind).toBe('delivered');
  });

  test('refused already says nothing to the peer', async () => {
    const rig = await startRig();
    await rig.deliver();
    const result = await rig.deliver({ content, refused: AbortSignal.abort(), gate: async () => false });
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'lease_lost', hopFailed: false });
    await rig.deliver();
    expect(verbs(rig).slice(4)).toEqual(['MAIL', 'RCPT', 'DATA']);
    expect(rig.sink.connections).toBe(1);
  });

  test('stopped before the dot is deferred and never taken', async () => {
    const rig = await startRig();
    const stop = new AbortController();
    const gate = Promise.withResolvers<boolean>();
    const delivery = rig.deliver({
      content,
      signal: stop.signal,
      gate: () => {
        stop.abort();
        return gate.promise;
      },
    });
    expect(only(await delivery)).toMatchObject({ kind: 'deferred', cause: 'aborted', hopFailed: false });
    gate.resolve(true);
    await rig.sink.until(() => rig.sink.open === 0);
    expect(rig.sink.messages).toEqual([]);
  });

  test('stopped after the dot is unknown', async () => {
    const stop = new AbortController();
    const rig = await startRig({
      sink: {
        script: {
          DOT: () => {
            stop.abort();
            return undefined;
          },
        },
      },
    });
    const result = await rig.deliver({ content, signal: stop.signal });
    expect(only(result)).toMatchObject({ kind: 'unknown', cause: 'aborted' });
    expect(rig.sink.taken).toBe(1);
  });

  test('whose gate was shut by the loss of the connection is deferred', async () => {
    const rig = await startRig();
    const result = await rig.deliver({
      content,
      gate: () => {
        rig.sink.cut();
        return never();
      },
    });
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'connection_lost' });
  });
});

test('a small message’s conversation does not wait for the gate', async () => {
  const rig = await startRig();
  const said = Promise.withResolvers<undefined>();
  rig.sink.script.DATA = () => {
    said.resolve(undefined);
    return undefined;
  };
  const gate = () => said.promise.then(() => true);
  expect(only(await rig.deliver({ content: SMALL, gate })).kind).toBe('delivered');
});

test('a large message is begun only when the gate has opened; while it is shut the connection stays good', async () => {
  const rig = await startRig({ pool: { maxConnections: 1 } });
  await rig.deliver({ content: LARGE, gate: async () => false });
  expect(only(await rig.deliver({ content: LARGE })).kind).toBe('delivered');
  expect(verbs(rig)).toEqual(['EHLO', 'MAIL', 'RCPT', 'RSET', 'MAIL', 'RCPT', 'DATA']);
  expect(rig.sink.connections).toBe(1);
});

test('a large message whose gate shuts while its content is on its way is broken off', async () => {
  const rig = await startRig();
  let asked = 0;
  const result = await rig.deliver({ content: LARGE, gate: async () => ++asked === 1 });
  expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'lease_lost', hopFailed: false });
  await rig.sink.until(() => rig.sink.open === 0);
  expect(rig.sink.messages).toEqual([]);
});

test('a peer that speaks while nothing was asked is left', async () => {
  const rig = await startRig({ sink: { script: { RCPT: '250 2.1.5 ok\r\n250 2.0.0 and more' } } });
  expect(only(await rig.deliver({ content: LARGE, gate: never })).kind).toBe('deferred');
  await rig.sink.until(() => rig.sink.open === 0);
  expect(rig.sink.messages).toEqual([]);
});

test('the gate is not asked for a message that no recipient will have', async () => {
  const rig = await startRig({ sink: { script: { RCPT: '550 5.1.1 no' } } });
  let asked = 0;
  await rig.deliver({
    gate: async () => {
      asked++;
      return true;
    },
  });
  expect(asked).toBe(0);
});

test('what was stopped already is not begun', async () => {
  const rig = await startRig();
  expect(only(await rig.deliver({ signal: AbortSignal.abort() }))).toMatchObject({ cause: 'aborted' });
  expect(rig.sink.connections).toBe(0);
});

test('a peer that stops reading in the middle of the content is given up after its time', async () => {
  const begun = Promise.withResolvers<void>();
  const CONTENT = () => {
    begun.resolve();
    return HANG;
  };
  const rig = await startRig({ sink: { script: { CONTENT } }, timeouts: { content: 1000 } });
  const huge = linesOf(1_000_000);
  const delivery = rig.deliver({ content: Array(40).fill(huge) });
  await begun.promise;
  expect(only(await advanceUntil(rig.clock, 1000, delivery))).toMatchObject({
    kind: 'deferred',
    cause: 'timeout_content',
  });
});

test('contents that cannot be read reject the attempt and close the connection', async () => {
  const rig = await startRig();
  const broken = {
    *[Symbol.iterator]() {
      yield Buffer.from('Subject: x\r\n');
      throw new Error('damaged');
    },
  };
  await expect(rig.deliver({ content: broken as unknown as Uint8Array[], sizeBytes: 10 })).rejects.toThrow(
    'damaged',
  );
  await rig.sink.until(() => rig.sink.open === 0);
  expect(rig.sink.messages).toEqual([]);
});

test('dots at the beginning of lines arrive as they were, wherever the chunks are cut', async () => {
  const rig = await startRig();
  const text = '.first\r\n..\r\nplain\r\n.\r\nlast.\r\n';
  for (let cut = 0; cut <= text.length; cut++) {
    const content = [Buffer.from(text.slice(0, cut)), Buffer.from(text.slice(cut))];
    expect(only(await rig.deliver({ content, flags: { dotStuffing: true } })).kind).toBe('delivered');
    expect(rig.sink.messages.at(-1)?.content.toString()).toBe(text);
  }
});

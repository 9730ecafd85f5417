import fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemClock } from '../lib/clock.ts';
import { START_MS } from '../lib/guarded-thread.ts';
import { MAX_FIELDS, MAX_FILES, MAX_MAILBOXES, MAX_PLAIN, MAX_TEXT, parseMessage, plainIn } from './parse.ts';
import { Previewer } from './previewer.ts';

/** Loads the letter. */
const letter = async () => bytes(LETTER);
const bytes = (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'));

const LETTER = `From: =?utf-8?q?J=C3=B6rg?= <j@example.com>
To: you@example.net
Subject: =?utf-8?b?R3LDvMOfZQ==?=
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: multipart/alternative; boundary=c

--c
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

Grüße
--c
Content-Type: text/html; charset=utf-8

<p>Hello</p>
--c--
--b
Content-Type: application/pdf; name="../../etc/pass\u202ewd.pdf"
Content-Disposition: attachment; filename="../../etc/pass\u202ewd.pdf"
Content-Transfer-Encoding: base64

JVBERg==
--b--
`;

test('a message is read into its subject, author, text, HTML and files', async () => {
  const message = await parseMessage(bytes(LETTER));
  expect(message).toMatchObject({
    subject: 'Grüße',
    from: 'Jörg <j@example.com>',
    html: expect.stringContaining('<p>Hello</p>'),
    text: expect.stringContaining('Grüße'),
    notes: [],
  });
  expect(message.headers[0]).toEqual({ name: 'From', value: 'Jörg <j@example.com>' });
});

test('the name of a file is no path and hides nothing', async () => {
  const [file] = (await parseMessage(bytes(LETTER))).attachments;
  expect(file).toMatchObject({
    filename: 'pass[U+202E]wd.pdf',
    contentType: 'application/pdf',
    inline: false,
  });
  expect(Buffer.from(file?.content ?? [])).toEqual(Buffer.from('%PDF'));
});

test.each([
  ['..', 'file-1'],
  ['/', 'file-1'],
  ['C:\\\\temp\\\\a.exe', 'a.exe'],
  ['.htaccess', 'htaccess'],
  [' . .htaccess ', 'htaccess'],
])('a file called %s is called %s', async (given, shown) => {
  const text = `Content-Type: application/octet-stream\nContent-Disposition: attachment; filename="${given}"\n\nx\n`;
  expect((await parseMessage(bytes(text))).attachments[0]?.filename).toBe(shown);
});

test('pictures that stay out whoever asks are not offered, and a note says so', async () => {
  const read = (html: string) => parseMessage(bytes(`Content-Type: text/html\n\n${html}\n`));
  const picture = '<img src="https://t.example/1.png">';
  const telling = '<p style="background:url(\'//t.example/2\' cross-origin(use-credentials))">';
  expect(await read(picture)).toMatchObject({ remotePictures: 1, notes: [] });
  expect(await read(picture + telling)).toMatchObject({
    remotePictures: 0,
    notes: [expect.stringMatching(/remote pictures stay out/)],
  });
});

test('more fields and files than are shown, and longer texts, are told of', async () => {
  const fields = Array.from({ length: MAX_FIELDS + 1 }, (_, n) => `X-${n}: ${n}`).join('\n');
  const parts = Array.from(
    { length: MAX_FILES + 1 },
    () => '--b\nContent-Disposition: attachment\nContent-Type: image/png\n\nx\n',
  ).join('');
  const long = `--b\nContent-Type: text/plain\n\n${'abcdefghi\n'.repeat(MAX_TEXT / 10 + 1)}\n`;
  const message = await parseMessage(
    bytes(`${fields}\nContent-Type: multipart/mixed; boundary=b\n\n${long}${parts}--b--\n`),
  );
  expect(message.headers).toHaveLength(MAX_FIELDS);
  expect(message.attachments).toHaveLength(MAX_FILES);
  expect(message.text).toHaveLength(MAX_TEXT);
  expect(message.notes).toHaveLength(3);
});

test('whom a message names is told with their names, groups as their members, and not without end', async () => {
  const many = Array.from({ length: MAX_MAILBOXES + 1 }, (_, place) => `u${place}@example.net`).join(',\n ');
  const { mailboxes } = await parseMessage(
    bytes(
      `From: "Q, A" <qa@example.com>\nTo: ${many}\nCc: Team: =?utf-8?q?J=C3=B6rg?= <j@x.test>, b@x.test;\n\n`,
    ),
  );
  expect(mailboxes).toMatchObject({
    from: [{ name: 'Q, A', address: 'qa@example.com' }],
    cc: [
      { name: 'Jörg', address: 'j@x.test' },
      { name: '', address: 'b@x.test' },
    ],
    replyTo: [],
  });
  expect(mailboxes.to).toHaveLength(MAX_MAILBOXES);
});

test.each([
  ['the text', 'text/plain', 'Hello  you', 'Hello  you'],
  ['what its HTML says', 'text/html', '<style>p{}</style><p>Hello &amp; <b>bye</b></p>', 'Hello & bye'],
])('a message says as text: %s', async (_, type, body, plain) => {
  expect((await parseMessage(bytes(`Content-Type: ${type}\n\n${body}\n`))).plain.trim()).toBe(plain);
});

test('the end of the head may be left out', () => {
  const html = '<html><head><title>t</title><style>p {}</style><body><p>Your code: 482913</p>';
  expect(plainIn({ text: null, html })).toBe('Your code: 482913');
});

test('of what a message says as text, only the beginning is kept', () => {
  expect(plainIn({ text: 'x'.repeat(MAX_PLAIN + 1), html: null })).toHaveLength(MAX_PLAIN);
  expect(plainIn({ text: null, html: 'x'.repeat(MAX_PLAIN + 1) })).toHaveLength(MAX_PLAIN);
});

test('parts too deep inside each other are refused in words', async () => {
  const open = Array.from(
    { length: 60 },
    (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n`,
  );
  await expect(parseMessage(bytes(open.join('')))).rejects.toMatchObject({ code: 'unreadable' });
});

test('whatever the bytes, they are read or refused', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (octets) => {
      const result = await parseMessage(octets).catch((error: { readonly code: string }) => error.code);
      expect(typeof result === 'string' ? result : 'read').toMatch(/^(read|unreadable)$/);
    }),
    { numRuns: 300 },
  );
});

test('a thread reads messages one after the other, and goes on after one that it refused', async () => {
  const previewer = new Previewer(systemClock, { maxBytes: 4096 });
  try {
    const [good, large, again] = await Promise.allSettled([
      previewer.read(LETTER.length, letter),
      previewer.read(4097, letter),
      previewer.read(LETTER.length, letter),
    ]);
    expect(good).toMatchObject({ status: 'fulfilled', value: { subject: 'Grüße' } });
    expect(large).toMatchObject({ status: 'rejected', reason: { code: 'too_large' } });
    expect(again).toMatchObject({ status: 'fulfilled' });
  } finally {
    await previewer.close();
  }
});

test('what takes too long is given up, and the next one is read', async () => {
  let late: (() => void) | null = null;
  const clock = {
    ...systemClock,
    // The first limit is over as soon as it begins, the next one not even on a busy machine.
    sleep: (ms: number, signal?: AbortSignal) => {
      const isLimit = ms === START_MS + 1234;
      if (late !== null || !isLimit) return systemClock.sleep(isLimit ? 60_000 : ms, signal);
      return new Promise<void>((resolve) => {
        late = resolve;
        resolve();
      });
    },
  };
  const previewer = new Previewer(clock, { timeLimitMs: 1234 });
  try {
    await expect(previewer.read(LETTER.length, letter)).rejects.toMatchObject({ code: 'too_slow' });
    expect(await previewer.read(LETTER.length, letter)).toMatchObject({ subject: 'Grüße' });
  } finally {
    await previewer.close();
  }
});

test('what waits to be read, or is too large, is not in memory', async () => {
  const previewer = new Previewer(systemClock, { maxBytes: 4096 });
  let loaded = 0;
  let most = 0;
  const load = async () => {
    loaded++;
    most = Math.max(most, loaded);
    return bytes(LETTER);
  };
  const read = () => previewer.read(LETTER.length, load).finally(() => loaded--);
  try {
    await Promise.all([read(), read(), read(), read()]);
    expect(most).toBe(1);
    most = 0;
    await expect(previewer.read(4097, load)).rejects.toMatchObject({ code: 'too_large' });
    expect(most).toBe(0);
  } finally {
    await previewer.close();
  }
});

test('no more wait to be read than may', async () => {
  const previewer = new Previewer(systemClock, { maxWaiting: 2 });
  try {
    const results = await Promise.allSettled([1, 2, 3].map(() => previewer.read(LETTER.length, letter)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(results[2]).toMatchObject({ reason: { code: 'busy' } });
  } finally {
    await previewer.close();
  }
});

/** Messages for providers that compose messages themselves, and what is expected of all of them. */
import { expect, test } from 'vitest';
import type { ProviderSettings } from '../../../src/domain/relay.ts';
import { SLICE_BYTES } from '../../../src/lib/clock.ts';
import { rowFor } from '../../../src/transport/providers/judge.ts';
import type {
  AnswerRow,
  Prepared,
  Provider,
  ProviderMessage,
} from '../../../src/transport/providers/provider.ts';
import type { ApiAnswer } from '../../peers/provider-api.ts';
import { type Mail, only } from '../smtp-out/rig.ts';
import { type ProviderRigOptions, type RigSettings, SECRET, startProvider } from './rig.ts';

const PNG = Buffer.from('89504e470d0a1a0a00ff', 'hex');
/** A file with every byte there is. */
const EVERY_BYTE = Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte));

/** The content of {@link FULL}: it has something of everything. */
const FULL_TEXT = `Received: from app by waybill; Fri, 20 Nov 2026 11:15:00 +0000
DKIM-Signature: v=1; a=rsa-sha256; d=a.test; s=x; b=AAAA
Date: Fri, 20 Nov 2026 11:15:00 +0000
From: =?utf-8?Q?J=C3=B6rg_M=C3=BCller?= <joerg@a.test>
To: "Doe, John" <john@b.test>, c@b.test
Cc: =?utf-8?B?0J/RgNC40LLQtdGC?= <d@b.test>
Reply-To: Team <team@a.test>, r@a.test
Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe_=E2=82=AC?=
Message-ID: <1@a.test>
List-Unsubscribe: <https://a.test/u>,
 <mailto:u@a.test>
X-Note: =?utf-8?Q?=C3=BC?=
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=m

--m
Content-Type: multipart/alternative; boundary=a

--a
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

Gr=C3=BC=C3=9Fe "=E2=82=AC" \\ =F0=9F=98=80
--a
Content-Type: multipart/related; boundary=r

--r
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

<p>Gr=FC=DFe</p><img src=3D"cid:logo@a.test">
--r
Content-Type: image/png
Content-Disposition: inline; filename=logo.png
Content-ID: <logo@a.test>
Content-Transfer-Encoding: base64

${PNG.toString('base64')}
--r--
--a--
--m
Content-Type: application/octet-stream
Content-Disposition: attachment; filename*=utf-8''gr%C3%BC%C3%9Fe.bin
Content-Transfer-Encoding: base64

${EVERY_BYTE.toString('base64')}
--m--
`.replaceAll('\n', '\r\n');

/** A message with something of everything, and a blind copy. */
export const FULL: Mail = {
  from: 'joerg@a.test',
  to: ['john@b.test', 'blind@c.test', 'c@b.test', 'D@b.test'],
  content: FULL_TEXT,
};
/** What its texts say. */
export const FULL_PLAIN = 'Grüße "€" \\ 😀';
/** See {@link FULL_PLAIN}. */
export const FULL_HTML = '<p>Grüße</p><img src="cid:logo@a.test">';
/** The files of it, in base64. */
export const FULL_FILES = { png: PNG.toString('base64'), bin: EVERY_BYTE.toString('base64') };

const HEAD = 'From: a@a.test\r\nTo: b@b.test\r\nSubject: s\r\n';
/** The simplest message. */
export const SIMPLE: Mail = { from: 'a@a.test', to: ['b@b.test'], content: `${HEAD}\r\nHello.\r\n` };

/** What is different in a test. */
export interface Refusal {
  readonly name: string;
  readonly mail: Mail;
  readonly cause: string;
  /** Of the text. */
  readonly says: RegExp;
}

/** What none of these providers can say. */
export const REFUSALS: readonly Refusal[] = [
  {
    name: 'a return path of its own',
    mail: { ...SIMPLE, from: 'bounces+b=b.test@a.test' },
    cause: 'envelope_differs',
    says: /reverse-path is not the address in From/,
  },
  {
    name: 'somebody in To who is no recipient',
    mail: { ...SIMPLE, content: `${HEAD.replace('b@b.test', 'b@b.test, x@b.test')}\r\nx\r\n` },
    cause: 'envelope_differs',
    says: /not a recipient of this delivery/,
  },
  {
    name: 'somebody in Cc who is no recipient',
    mail: { ...SIMPLE, content: `Cc: x@b.test\r\n${HEAD}\r\nx\r\n` },
    cause: 'envelope_differs',
    says: /not a recipient of this delivery/,
  },
  {
    name: 'blind copies alone',
    mail: { ...SIMPLE, content: `${HEAD.replace('b@b.test', 'undisclosed-recipients:;')}\r\nx\r\n` },
    cause: 'envelope_differs',
    says: /blind copies alone/,
  },
  {
    name: 'a signed message',
    mail: {
      ...SIMPLE,
      content: `${HEAD}Content-Type: multipart/signed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b\r\n\r\ny\r\n--b--\r\n`,
    },
    cause: 'not_rebuildable',
    says: /signed or encrypted/,
  },
  {
    name: 'no text',
    mail: {
      ...SIMPLE,
      content: `${HEAD}Content-Type: a/b\r\nContent-Disposition: attachment; filename=a\r\n\r\nx\r\n`,
    },
    cause: 'not_rebuildable',
    says: /no text/,
  },
  {
    name: 'an empty text',
    mail: { ...SIMPLE, content: `${HEAD}\r\n` },
    cause: 'not_rebuildable',
    says: /no text/,
  },
  {
    name: 'an address that is not ASCII',
    mail: { ...SIMPLE, from: 'jörg@a.test', content: `${HEAD.replace('a@a', 'jörg@a')}\r\nx\r\n` },
    cause: 'not_rebuildable',
    says: /not ASCII/,
  },
  {
    name: 'a blind copy to an address that is not ASCII',
    mail: { ...SIMPLE, to: ['b@b.test', 'jörg@c.test'] },
    cause: 'not_rebuildable',
    says: /not ASCII/,
  },
];

/** The provider of a test. */
export interface Tested {
  readonly settings: RigSettings;
  readonly make: (settings: ProviderSettings) => Provider;
  /** It took the message. */
  readonly taken: ApiAnswer;
}

/** Starts the rig with it. */
export function startTested({ settings, make, taken }: Tested, options: ProviderRigOptions = {}) {
  return startProvider(settings, {
    provider: (full) => make(full),
    ...options,
    api: { answer: () => taken, ...options.api },
  });
}

/** Sends a message that must be taken, and gives the JSON that came over. */
export async function sentJson(tested: Tested, mail: Mail) {
  const rig = await startTested(tested);
  for (const { kind } of (await rig.deliver(mail)).outcomes) expect(kind).toBe('delivered');
  expect(rig.api.requests).toHaveLength(1);
  const [request] = rig.api.requests;
  if (request === undefined) throw new Error('no request');
  return { request, json: JSON.parse(request.body.toString()) };
}

/** An answer, and what becomes of the message: `ill` is the relay's illness. */
export type Expected = readonly [
  answer: ApiAnswer,
  end: 'delivered' | 'deferred' | 'rejected' | 'unknown' | 'ill',
];

/** Tests that each answer has its end, and that no row of the table is left out. */
export function testAnswers(tested: Tested, answers: readonly Expected[]): void {
  test.each(answers.map(([answer, end]) => [answer.status, String(answer.body ?? ''), end, answer] as const))(
    '%i %s: %s',
    async (_status, _body, end, answer) => {
      const rig = await startTested(tested);
      rig.api.script.push(answer);
      const result = await rig.deliver(SIMPLE);
      const { kind, hopFailed } = only(result);
      expect(kind).toBe(end === 'ill' ? 'deferred' : end);
      // The message's own fate leaves the relay well; another relay must not be given what this one refuses for good.
      expect(hopFailed).toBe(end === 'ill');
      expect(result.outcomes[0]).not.toHaveProperty('hopBound');
      expect(rig.log.join()).not.toContain(SECRET);
    },
  );

  test('every row of the table was met', () => {
    const provider = tested.make(settingsOf(tested));
    const met = new Set<AnswerRow>(
      answers.map(([{ status, headers = {}, body = '' }]) => {
        const { code } = provider.read({ status, headers, body: String(body) });
        return rowFor(provider.answers, status, code);
      }),
    );
    expect(provider.answers.filter((row) => !met.has(row))).toEqual([]);
  });
}

/** Tests that what is not understood is never the message's fault: a page of some proxy, or a code of which nothing is known. */
export function testStrangers(tested: Tested, unknown: (status: number) => ApiAnswer): void {
  const page = (status: number): ApiAnswer => ({
    kind: 'answer',
    status,
    headers: { 'content-type': 'text/html' },
    body: '<html><h1>Request rejected</h1></html>',
  });
  const answers = [400, 406, 409, 415, 418, 422, 451].flatMap((status) => [
    ['a page', page(status)] as const,
    ['nothing', { kind: 'answer', status } as const] as const,
    ['a new code', unknown(status)] as const,
  ]);
  test.each(answers.map(([what, answer]) => [answer.status, what, answer] as const))(
    '%i with %s has the message wait',
    async (_status, _what, answer) => {
      const rig = await startTested(tested);
      rig.api.script.push(answer);
      expect(only(await rig.deliver(SIMPLE)).kind).toBe('deferred');
    },
  );
}

/** Tests that messages are refused before anything is sent, so that another relay may take them. */
export function testRefusals(tested: Tested, refusals: readonly Refusal[]): void {
  test.each(refusals)('$name is refused, and may go elsewhere', async ({ mail, cause, says }) => {
    const rig = await startTested(tested);
    const result = await rig.deliver(mail);
    expect(result.hopFailed).toBe(false);
    expect(result.outcomes).toHaveLength(mail.to?.length ?? 1);
    for (const outcome of result.outcomes) {
      expect(outcome).toMatchObject({ kind: 'rejected', hopBound: true });
      expect(outcome.reply).toMatchObject({ cause });
      expect(outcome.reply.text).toMatch(says);
    }
    expect(rig.api.requests).toEqual([]);
  });
}

/** Tests that who stands twice among blind copies, in letters of another case, gets one. */
export function testBlindCopies(tested: Tested): void {
  test('an address in two cases is one blind copy', () => {
    const message = messageOf(null, ['b@b.test', 'Bob@x.test', 'bob@x.test', 'BOB@X.test', 'al@x.test']);
    const text = Buffer.concat(prepared(tested, message).body).toString();
    expect(text.match(/bob@x\.test/gi)).toHaveLength(1);
    expect(text.match(/al@x\.test/g)).toHaveLength(1);
    const turned = { ...message.envelope, recipients: message.envelope.recipients.toReversed() };
    expect(Buffer.concat(prepared(tested, { ...message, envelope: turned }).body).toString()).toBe(text);
  });
}

/** Tests that a large message is prepared in slices. */
export function testSlices(tested: Tested, fileBytes: number): void {
  test(`a file of ${fileBytes} bytes is rebuilt in slices, and whole`, () => {
    const file = Buffer.alloc(fileBytes, EVERY_BYTE);
    const lines = (file.toString('base64').match(/.{1,76}/g) ?? []).join('\r\n');
    const content = Buffer.from(
      `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b\r\nContent-Type: a/b\r\n` +
        `Content-Disposition: attachment; filename=a\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines}\r\n--b--\r\n`,
    );
    const work = tested.make(settingsOf(tested)).prepare(messageOf(content), { now: 0, token: '' });
    let turns = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) turns++;
    // Decoded once and encoded once.
    expect(turns).toBeGreaterThanOrEqual((content.length + fileBytes) / SLICE_BYTES - 3);
    const { body } = requestOf(step.value);
    expect(Math.max(...body.map(({ length }) => length))).toBeLessThan(2 * SLICE_BYTES);
    expect(Buffer.concat(body).includes(file.toString('base64'))).toBe(true);
  });
}

/** What would be sent for a message. */
export function prepared(tested: Tested, message: ProviderMessage) {
  const work = tested.make(settingsOf(tested)).prepare(message, { now: 0, token: '' });
  let step = work.next();
  while (!step.done) step = work.next();
  return requestOf(step.value);
}

/** {@link SIMPLE}, or other content, as a provider gets it. */
export function messageOf(
  content: Buffer | null,
  recipients: readonly string[] = ['b@b.test'],
): ProviderMessage {
  return {
    id: 'msg_01k00000000000000000000000',
    envelope: {
      reversePath: 'a@a.test',
      recipients: recipients.map((address) => ({ address, kind: 'to', notify: null, orcpt: null })),
      ret: null,
      envid: null,
    },
    flags: { eightBit: false, utf8: false, dotStuffing: false },
    content: content ?? Buffer.from(String(SIMPLE.content)),
  };
}

/** Settings as a relay has them. */
export function settingsOf({ settings }: Tested): ProviderSettings {
  return { endpoint: 'https://api.test', allowPrivate: false, secret: SECRET, ...settings };
}

function requestOf(result: Prepared) {
  if (!result.ok) throw new Error(result.reply.text);
  return result.request;
}

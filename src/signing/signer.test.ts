import { describe, expect, test } from 'vitest';
import {
  askMailauth,
  contentOf,
  domainKey,
  recordsOf,
  SIGNED_AT,
  sendingDomain,
  signerFor,
} from '../../test/support/dkim.ts';
import type { SendingDomain } from '../domain/domain-keys.ts';
import type { SigningRights } from '../domain/message.ts';
import { atOnce } from '../lib/clock.ts';
import type { Log, LogFields } from '../lib/log.ts';
import { toSevenBit } from '../mail/seven-bit.ts';
import { createSigningKeys } from './keys.ts';
import { isSignedBy, MAX_UNDER_WAY, Signing } from './signer.ts';

const bytes = (text: string) => Buffer.from(text);
const from = (author: string) => contentOf(bytes(`From: ${author}\r\nSubject: x\r\n\r\nHello\r\n`));
const ED = domainKey('ed', 'ed25519-sha256');
const EXAMPLE = sendingDomain('example.com', [ED]);
const MAIL = sendingDomain('mail.example.com', [ED]);
/** `d=` of each signature on top. */
const domainsOf = (chunks: readonly Uint8Array[]) =>
  [
    ...Buffer.concat(chunks)
      .toString()
      .matchAll(/ d=([^;]+);/g),
  ].map(([, domain]) => domain);

async function signedFor(
  author: string,
  rights: SigningRights,
  domains: readonly SendingDomain[] = [EXAMPLE, MAIL],
) {
  return domainsOf((await signerFor(domains).sign(from(author), rights)).chunks);
}

describe('a message is signed for', () => {
  test.each<[string, string, SigningRights, string[]]>([
    ['its author domain', 'a@example.com', 'any', ['example.com']],
    ['its very domain before one above it', 'a@mail.example.com', 'any', ['mail.example.com']],
    ['the nearest domain above it', 'a@x.y.mail.example.com', 'any', ['mail.example.com']],
    ['a domain in any case', 'A <a@EXAMPLE.com>', 'any', ['example.com']],
    ['no domain that is not registered', 'a@example.net', 'any', []],
    ['no domain that only ends alike', 'a@badexample.com', 'any', []],
    ['a domain its sender is bound to', 'a@example.com', ['other.test', 'example.com'], ['example.com']],
    ['nobody who is bound to others', 'a@example.com', ['other.test'], []],
    ['nobody who is bound to the domain above', 'a@x.example.com', ['example.com'], []],
    ['a domain below by whoever is bound to that', 'a@x.example.com', ['x.example.com'], ['example.com']],
    ['no stranger', 'a@example.com', [], []],
    ['the first of several authors', 'a@example.com, b@mail.example.com', 'any', ['example.com']],
    [
      'its address, whatever its name looks like',
      'x@mail.example.com <a@example.com>',
      'any',
      ['example.com'],
    ],
    ['no address that is but a name', 'x@example.com <a@other.test>', 'any', []],
    [
      'a name that looks like an address only by whoever may send from both',
      'x@other.test <a@example.com>',
      ['example.com'],
      [],
    ],
    ['several authors only if all are open', 'a@example.com, b@other.test', ['example.com'], []],
    ['none whose author cannot be read', 'a@example.com (', 'any', []],
    ['none whose author may be read otherwise', '=?utf-8?Q?b=40other.test?= <a@example.com>', 'any', []],
    ['nobody', '', 'any', []],
  ])('%s', async (_what, author, rights, domains) => {
    expect(await signedFor(author, rights)).toEqual(domains);
  });

  test.each([
    ['two From fields', 'From: a@example.com\r\nFrom: b@example.com\r\n\r\n'],
    ['no From field', 'Subject: x\r\n\r\n'],
    ['no header', '\r\nFrom: a@example.com\r\n'],
    ['a broken header', 'From: a@example.com\r\nno field\r\n\r\n'],
    ['a header beyond all measure', `From: a@example.com\r\nX: ${'x\r\n '.repeat(200_000)}\r\n\r\n`],
  ])('none with %s', async (_what, text) => {
    const content = contentOf(bytes(text));
    expect(await signerFor([EXAMPLE]).sign(content, 'any')).toBe(content);
  });
});

describe('keys', () => {
  test.each([
    ['waits', { activeSince: null }],
    ['is retired', { retiredAt: 2 }],
    ['cannot be read', { privateKey: null }],
  ])('one that %s does not sign', async (_what, change) => {
    const domain = sendingDomain('example.com', [{ ...ED, ...change }]);
    expect(await signedFor('a@example.com', 'any', [domain])).toEqual([]);
  });

  test('are read once, however often the configuration is', () => {
    const keysOf = createSigningKeys();
    const key = () => keysOf([{ ...EXAMPLE, keys: EXAMPLE.keys.map((one) => ({ ...one })) }]).active;
    expect(key().get('example.com')?.[0]).toBe(key().get('example.com')?.[0]);
    const changed = sendingDomain('example.com', [domainKey('ed', 'ed25519-sha256')]);
    const before = key().get('example.com')?.[0];
    expect(keysOf([changed]).active.get('example.com')?.[0]).not.toBe(before);
  });

  test('one that is broken is told of once a minute, and the other signs', async () => {
    const lines: LogFields[] = [];
    const log: Log = {
      debug() {},
      info() {},
      warn() {},
      error: (_event, fields) => lines.push(fields ?? {}),
    };
    let now = 0;
    const clock = { wall: () => SIGNED_AT, mono: () => now, sleep: async () => {} };
    const wrong = { ...ED, selector: 'rsa', algorithm: 'rsa-sha256' as const };
    const garbage = { ...ED, selector: 'none', privateKey: 'AAAA' };
    const signer = signerFor([sendingDomain('example.com', [wrong, garbage, ED])], log, clock);
    for (now of [0, 59_999, 60_000])
      expect(domainsOf((await signer.sign(from('a@example.com'), 'any')).chunks)).toEqual(['example.com']);
    expect(lines.map(({ code, domain }) => [code, domain])).toEqual([
      ['signing_failed', 'example.com'],
      ['signing_failed', 'example.com'],
    ]);
  });
});

describe('many at once', () => {
  test('are all signed, each by itself', async () => {
    const domains = [sendingDomain('example.com')];
    const signer = signerFor(domains);
    const contents = Array.from({ length: 60 }, (_, index) => from(`a${index}@example.com`));
    const signed = await Promise.all(contents.map((content) => signer.sign(content, 'any')));
    for (const { chunks } of signed)
      expect(await askMailauth(Buffer.concat(chunks), recordsOf(domains))).toEqual(['pass', 'pass']);
  });
});

describe('signed again', () => {
  const domains = [sendingDomain('example.com')];
  const records = recordsOf(domains);
  const SEVEN = { eightBitHeaders: false, eightBitBodies: false };
  const eightBit = contentOf(
    bytes(
      'From: Jürgen <a@example.com>\r\nDate: x\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nGrüße\r\n',
    ),
  );
  const later = { wall: () => SIGNED_AT + 86_400_000, mono: () => 0, sleep: async () => {} };

  function converted(original: Buffer): readonly Uint8Array[] {
    const result = atOnce(toSevenBit(original, SEVEN));
    if (!result.ok) throw new Error(result.because);
    return result.chunks;
  }

  async function signed(by: readonly SendingDomain[], content = eightBit) {
    return Buffer.concat((await signerFor(by).sign(content, 'any')).chunks);
  }

  test('holds, with the time of before, and the same bytes every time', async () => {
    const original = await signed(domains);
    const signer = signerFor(domains, undefined, later);
    const broken = Buffer.concat(converted(original));
    expect(await askMailauth(broken, records)).not.toContain('pass');
    const again = Buffer.concat(await signer.resign(original, converted(original)));
    expect(await askMailauth(again, records)).toEqual(['pass', 'pass']);
    expect(again.toString().match(/ t=\d+;/g)).toEqual([' t=1790000000;', ' t=1790000000;']);
    expect(Buffer.concat(await signer.resign(original, converted(original))).equals(again)).toBe(true);
  });

  test('by the key that is retired meanwhile', async () => {
    const original = await signed(domains);
    const retired = domains.map((domain) => ({
      ...domain,
      keys: domain.keys.map((key) => ({ ...key, retiredAt: 3 })),
    }));
    const again = Buffer.concat(await signerFor(retired).resign(original, converted(original)));
    expect(await askMailauth(again, records)).toEqual(['pass', 'pass']);
  });

  test('never what we did not sign', async () => {
    const original = await signed(domains);
    const forged = Buffer.from(original.toString().replace('Grüße', 'Grüne'));
    const header = Buffer.from(original.toString().replace('Date: x', 'Date: y'));
    const strangers = await signed([sendingDomain('example.com', [domainKey('ed', 'ed25519-sha256')])]);
    for (const theirs of [forged, header, strangers, Buffer.concat(eightBit.chunks)]) {
      const chunks = converted(theirs);
      expect(await signerFor(domains).resign(theirs, chunks)).toBe(chunks);
    }
  });

  test('signs no field that was not signed before', async () => {
    const added = [
      'Sender: m@evil.test',
      'References: <1@evil.test>',
      'Content-Language: en',
      'List-Unsubscribe: <https://evil.test/>',
      'List-Evil: 1',
      'Feedback-ID: evil',
    ];
    const original = await signed(domains);
    const more = Buffer.from(
      original.toString('latin1').replace('Date: x', `${added.join('\r\n')}\r\nDate: x`),
      'latin1',
    );
    const again = Buffer.concat(await signerFor(domains).resign(more, converted(more)));
    expect(await askMailauth(again, records)).toEqual(['pass', 'pass']);
    for (const field of added) {
      expect(again.toString()).toContain(field);
      const without = Buffer.from(again.toString('latin1').replace(`${field}\r\n`, ''), 'latin1');
      expect(await askMailauth(without, records)).toEqual(['pass', 'pass']);
    }
    // The conversion writes the one field more.
    const names = namesOf(original).map((listed) => [...listed, 'content-transfer-encoding'].sort());
    expect(namesOf(again)).toEqual(names);
  });

  test('and nothing can be added that could not before', async () => {
    const signer = signerFor(domains);
    const original = await signed(domains);
    const again = Buffer.concat(await signer.resign(original, converted(original)));
    for (const name of [
      'From',
      'Subject',
      'Content-Type',
      'Content-Transfer-Encoding',
      'MIME-Version',
      'Cc',
    ]) {
      const more = Buffer.concat([Buffer.from(`${name}: x\r\n`), again]);
      expect(await askMailauth(more, records)).not.toContain('pass');
    }
  });

  test('and foreign signatures stay', async () => {
    const foreign = 'DKIM-Signature: v=1; a=rsa-sha256; d=other.test; s=a; b=x\r\n';
    const original = await signed(domains, contentOf([bytes(foreign), ...eightBit.chunks]));
    const again = Buffer.concat(await signerFor(domains).resign(original, converted(original)));
    expect(again.toString()).toContain(foreign);
    expect((await askMailauth(again, records)).slice(0, 2)).toEqual(['pass', 'pass']);
  });
});

/** What each signature lists in `h=`, sorted. */
function namesOf(message: Buffer): string[][] {
  const folded = message.toString('latin1').replaceAll('\r\n ', '');
  return [...folded.matchAll(/\bh=([^;]+);/g)].map(([, names]) => (names ?? '').split(':').sort());
}

test('what comes back with a signature of ours gets a new one in its place', async () => {
  const domains = [EXAMPLE];
  const once = await signerFor(domains).sign(from('a@example.com'), 'any');
  const later = { wall: () => SIGNED_AT + 60_000, mono: () => 0, sleep: async () => {} };
  const twice = await signerFor(domains, undefined, later).sign(once, 'any');
  expect(twice.sizeBytes).toBe(once.sizeBytes);
  const text = Buffer.concat(twice.chunks);
  expect(text.toString().match(/ t=\d+;/g)).toEqual([' t=1790000060;']);
  expect(await askMailauth(text, recordsOf(domains))).toEqual(['pass']);
  // Who may not have it signed keeps what there is.
  expect(await signerFor(domains).sign(once, [])).toBe(once);
});

const INPUT = Buffer.from('what is signed');
const keys = createSigningKeys()([
  sendingDomain('example.com'),
  sendingDomain('broken.test', [{ ...domainKey('ed', 'ed25519-sha256'), algorithm: 'rsa-sha256' }]),
]);

function keyOf(domain: string, selector: string) {
  const key = keys.held(domain, selector);
  if (key === null) throw new Error('there is no such key');
  return key;
}

test('a few are made at once, the others wait, and all are right', async () => {
  const signing = new Signing();
  const wanted = Array.from({ length: 40 }, (_, index) => keyOf('example.com', index % 2 ? 'rsa' : 'ed'));
  const made = wanted.map(async (key) => {
    const signature = await signing.sign(key, INPUT);
    expect(signing.underWay).toBeLessThanOrEqual(MAX_UNDER_WAY);
    expect(isSignedBy(key, INPUT, signature)).toBe(true);
    expect(isSignedBy(key, Buffer.from('other'), signature)).toBe(false);
    return signature;
  });
  expect(signing.underWay).toBe(MAX_UNDER_WAY);
  expect(new Set(await Promise.all(made)).size).toBe(2);
  expect(signing.underWay).toBe(0);
});

test('a key that cannot be used takes no place', async () => {
  const signing = new Signing();
  const broken = keyOf('broken.test', 'ed');
  for (let time = 0; time <= MAX_UNDER_WAY; time++)
    await expect(signing.sign(broken, INPUT)).rejects.toThrow('not of its algorithm');
  expect(signing.underWay).toBe(0);
  expect(isSignedBy(broken, INPUT, 'AAAA')).toBe(false);
});

import { createHash, createPublicKey, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atOnce } from '../lib/clock.ts';
import { readSignature, signedField, signingInput, unsignedField } from './dkim.ts';
import {
  MAX_SIGNED_FIELDS,
  relaxedBodyHash,
  relaxedField,
  signedNames,
  signedText,
} from './dkim-canonical.ts';
import { readLooseHeader } from './header-block.ts';

const sumOf = (text: string) => createHash('sha256').update(text, 'latin1').digest('hex');
const bytes = (text: string) => Buffer.from(text, 'latin1');
/** As one text, and as it comes: to both ways the same. */
function bodySum(...chunks: readonly Uint8Array[]): string {
  const whole = atOnce(relaxedBodyHash(chunks, 0)).toString('hex');
  expect(atOnce(relaxedBodyHash(chunks, 0, -1)).toString('hex')).toBe(whole);
  return whole;
}

/** RFC 6376 §3.4.4, as it is written there: step by step over the whole text. */
function relaxed(body: string): string {
  const lines = body.split('\r\n').map((line) => line.replace(/[\t ]+/g, ' ').replace(/ $/, ''));
  while (lines.at(-1) === '') lines.pop();
  return lines.map((line) => `${line}\r\n`).join('');
}

describe('the relaxed body', () => {
  test.each([
    ['of RFC 6376 §3.4.5', ' C \r\nD \t E\r\n\r\n\r\n', ' C\r\nD E\r\n'],
    ['that is empty', '', ''],
    ['of empty lines', '\r\n\r\n', ''],
    ['of blanks', ' \t\r\n  \r\n', ''],
    ['without a last line end', 'a', 'a\r\n'],
    ['that ends in a bare CR', 'a \r', 'a \r\r\n'],
    ['with bare CR and LF', 'a\rb\nc\r\r\n', 'a\rb\nc\r\r\n'],
    ['with blanks around a bare CR', 'a  \r  b \r\n', 'a \r b\r\n'],
    ['with a NUL and other controls', '\0\x0b  \x0c\r\n', '\0\x0b \x0c\r\n'],
    ['of 8 bits, among them what others take for a blank', 'ä\xa0\xa0 \x85\r\n', 'ä\xa0\xa0 \x85\r\n'],
    ['with empty lines in it', 'a\r\n\r\n\r\nb\r\n', 'a\r\n\r\n\r\nb\r\n'],
  ])('%s', (_what, body, canonical) => {
    expect(bodySum(bytes(body))).toBe(sumOf(canonical));
    expect(bodySum(...bytes(body).toString('latin1').split('').map(bytes))).toBe(sumOf(canonical));
  });

  const piece = fc.constantFrom(
    'a',
    'Wort',
    ' ',
    '  ',
    '\t',
    '\r\n',
    '\r',
    '\n',
    '\r\n\r\n',
    '\x00',
    '\xe4',
    '.',
  );
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));

  test('is the same however it is cut, and that of the RFC', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(80), { maxLength: 6 }), (body, cuts) => {
        const whole = bytes(body);
        const places = [
          0,
          ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b),
          whole.length,
        ];
        const chunks = places.slice(1).map((end, index) => whole.subarray(places[index], end));
        expect(bodySum(...chunks)).toBe(sumOf(relaxed(body)));
      }),
      { numRuns: 2000 },
    );
  });

  test('does not change any more', () => {
    fc.assert(
      fc.property(text, (body) => {
        expect(bodySum(bytes(relaxed(body)))).toBe(bodySum(bytes(body)));
      }),
    );
  });

  test('is summed in slices, and the beginning is left out', () => {
    const long = `${'ein  langer Text \r\n'.repeat(100_000)}${'\r\n'.repeat(400_000)}x`;
    const work = relaxedBodyHash([bytes('head'), bytes(`er${long}`)], 6);
    let turns = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) turns += 1;
    expect(step.value.toString('hex')).toBe(sumOf(relaxed(long)));
    expect(turns).toBe(Math.ceil(long.length / (512 * 1024)) - 1);
  });
});

describe('a relaxed field', () => {
  test.each([
    ['A: X\r\n', 'a:X\r\n'],
    ['B : Y\t\r\n\tZ  \r\n', 'b:Y Z\r\n'],
    ['SubJect:\r\n a\r\n', 'subject:a\r\n'],
    ['Subject:\r\n', 'subject:\r\n'],
    ['Subject: a: b\r\n', 'subject:a: b\r\n'],
    ['Subject: \xa0x\xa0\r\n', 'subject:\xa0x\xa0\r\n'],
    ['Subject: a\r\n \r\n b\r\n', 'subject:a b\r\n'],
  ])('%j', (raw, canonical) => {
    expect(relaxedField(raw)).toBe(canonical);
    expect(relaxedField(canonical)).toBe(canonical);
  });
});

describe('the fields that are signed', () => {
  const header = (text: string) => readLooseHeader(text, 100_000)?.fields ?? [];

  test('each once more than it is there, and absent ones that would matter', () => {
    const text =
      'From: a\r\nReceived: x\r\nBcc: y\r\nList-Unsubscribe: z\r\nContent-Language: de\r\nX-A: b\r\nTo: c\r\n';
    const names = signedNames(header(text)) ?? [];
    expect(names.join(':')).toBe(
      'from:from:to:to:cc:reply-to:subject:date:message-id:mime-version:content-type:content-transfer-encoding:' +
        'list-unsubscribe:list-unsubscribe:content-language:content-language',
    );
  });

  test('the last of several comes first', () => {
    const text = 'List-Post: 1\r\nlist-post: 2\r\nFrom: a\r\n';
    expect(signedText(text, header(text), ['list-post', 'from', 'list-post', 'list-post'])).toBe(
      'list-post:2\r\nfrom:a\r\nlist-post:1\r\n',
    );
  });

  test('too many are not signed', () => {
    const fields = (count: number) => header('List-X: a\r\n'.repeat(count));
    expect(signedNames(fields(MAX_SIGNED_FIELDS))).not.toBeNull();
    expect(signedNames(fields(MAX_SIGNED_FIELDS + 1))).toBeNull();
  });
});

describe('the example of RFC 8463', () => {
  const ED25519 = '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=';
  const RSA =
    'MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDkHlOQoBTzWRiGs5V6NpP3idY6Wk08a5qhdR6wy5bdOKb2jLQiY/J16JYi0Qvx/byYzCNb3W91y3FutACDfzwQ/BC/e/8uBsCR+yz1Lxj+PL6lHvqMKrM3rG4hstT5QjvHO9PzoxZyVYLzBfO2EeC3Ip3G+2kryOTIKT+l/K4w3QIDAQAB';
  const message = [
    'DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;',
    ' d=football.example.com; i=@football.example.com;',
    ' q=dns/txt; s=brisbane; t=1528637909; h=from : to :',
    ' subject : date : message-id : from : subject : date;',
    ' bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;',
    ' b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus',
    ' Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==',
    'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;',
    ' d=football.example.com; i=@football.example.com;',
    ' q=dns/txt; s=test; t=1528637909; h=from : to : subject :',
    ' date : message-id : from : subject : date;',
    ' bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;',
    ' b=F45dVWDfMbQDGHJFlXUNB2HKfbCeLRyhDXgFpEL8GwpsRe0IeIixNTe3',
    ' DhCVlUrSjV4BwcVcOF6+FF3Zo9Rpo1tFOeS9mPYQTnGdaSGsgeefOsk2Jz',
    ' dA+L10TeYt9BgDfQNZtKdN1WO//KgIqXP7OdEFE4LjFYNcUxZQ4FADY+8=',
    'From: Joe SixPack <joe@football.example.com>',
    'To: Suzie Q <suzie@shopping.example.net>',
    'Subject: Is dinner ready?',
    'Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)',
    'Message-ID: <20030712040037.46341.5F8J@football.example.com>',
    '',
    'Hi.',
    '',
    'We lost the game.  Are you hungry yet?',
    '',
    'Joe.',
    '',
  ].join('\r\n');
  const head = readLooseHeader(message, 100_000);
  const read = (head?.fields ?? [])
    .slice(0, 2)
    .map(({ start, end }) => readSignature(message.slice(start, end)));

  test('has the sum of its body', () => {
    const sum = atOnce(relaxedBodyHash([bytes(message)], (head?.sizeBytes ?? 0) + 2)).toString('base64');
    expect(read.map((signature) => signature?.bodyHash)).toEqual([sum, sum]);
  });

  test('has both signatures over what we would sign', () => {
    const [ed25519, rsa] = read.map((signature) => {
      if (signature === null) throw new Error('not read');
      const text = signedText(message, head?.fields ?? [], signature.names);
      return {
        input: signingInput(text, signature.unsigned),
        made: Buffer.from(signature.signature, 'base64'),
      };
    });
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(ED25519, 'base64').toString('base64url') };
    const edKey = createPublicKey({ key: jwk, format: 'jwk' });
    const rsaKey = createPublicKey({ key: Buffer.from(RSA, 'base64'), format: 'der', type: 'spki' });
    if (ed25519 === undefined || rsa === undefined) throw new Error('not read');
    const digest = createHash('sha256').update(ed25519.input).digest();
    expect(verify(null, digest, edKey, ed25519.made)).toBe(true);
    expect(verify('sha256', rsa.input, rsaKey, rsa.made)).toBe(true);
  });
});

describe('the field', () => {
  const terms = {
    algorithm: 'rsa-sha256',
    domain: 'example.com',
    selector: 'wb1',
    time: 1_790_000_000,
    names: ['from', 'from', 'subject'],
    bodyHash: '2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=',
  } as const;

  test('is folded within 78 columns, and read as it was written', () => {
    const names = Array.from({ length: 60 }, (_, index) => `list-${'x'.repeat(index)}`);
    for (const all of [terms, { ...terms, names }, { ...terms, domain: `${'a'.repeat(60)}.example` }]) {
      const unsigned = unsignedField(all);
      const field = signedField(unsigned, `${'A'.repeat(343)}=`);
      for (const line of field.split('\r\n')) expect(line.length).toBeLessThanOrEqual(78);
      expect(field.endsWith('\r\n')).toBe(true);
      expect(field).not.toMatch(/\r\n(?![ D]|$)/);
      expect(readSignature(field)).toMatchObject({ ...all, signature: `${'A'.repeat(343)}=` });
      expect(signingInput('', readSignature(field)?.unsigned ?? '')).toEqual(signingInput('', unsigned));
    }
  });

  test.each([
    ['another canonical form', 'c=relaxed/relaxed', 'c=relaxed/simple'],
    ['a length', 's=wb1;', 's=wb1; l=10;'],
    ['no time', 't=1790000000;', ''],
    ['another algorithm', 'a=rsa-sha256', 'a=rsa-sha1'],
    ['a tag twice', 's=wb1;', 's=wb1; s=wb1;'],
    ['what is no tag', 's=wb1;', 's=wb1; x;'],
  ])('with %s it is none of ours', (_what, ours, theirs) => {
    const field = signedField(unsignedField(terms), 'AAAA');
    expect(field).toContain(ours);
    expect(readSignature(field.replace(ours, theirs))).toBeNull();
  });
});

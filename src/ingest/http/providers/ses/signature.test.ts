import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bodyDigestOf,
  EXAMPLE_ID,
  EXAMPLE_SECRET,
  received,
  type SentRequest,
  signed,
} from '../../../../../test/support/aws-signing.ts';
import { isSignedWith, readSignature, type Signature } from './signature.ts';

const HOST = ['Host', 'example.amazonaws.com'] as const;
const DATE = ['X-Amz-Date', '20150830T123600Z'] as const;
const NOW = Date.parse('2015-08-30T12:36:00Z');
const TERMS = { service: 'ses', now: NOW };

interface Vector {
  readonly method?: string;
  readonly target?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string;
  readonly signedHeaders?: string;
  readonly signature: string;
}

const VANILLA = '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31';
const POST_VANILLA = '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b';
const QUERY_OF_POST = '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11';
const FORM = ['Content-Type', 'application/x-www-form-urlencoded'] as const;

/**
 * The test suite that AWS publishes for signature version 4 (`aws-sig-v4-test-suite`), by its names: what is sent, and
 * the signature in its `.authz` file. Key AKIDEXAMPLE, region us-east-1, service "service".
 */
const VECTORS: Readonly<Record<string, Vector>> = {
  'get-vanilla': { signature: VANILLA },
  'get-vanilla-query': { target: '/', signature: VANILLA },
  'get-vanilla-empty-query-key': {
    target: '/?Param1=value1',
    signature: 'a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb',
  },
  'get-vanilla-query-order-key': {
    target: '/?Param1=value2&Param1=Value1',
    signature: 'eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1',
  },
  'get-vanilla-query-order-key-case': {
    target: '/?Param2=value2&Param1=value1',
    signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  'get-vanilla-query-order-value': {
    target: '/?Param1=value2&Param1=value1',
    signature: '5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694',
  },
  'get-vanilla-query-unreserved': {
    target:
      '/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
    signature: '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
  },
  'get-vanilla-utf8-query': {
    target: '/?ሴ=bar',
    signature: '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04',
  },
  'get-utf8': {
    target: '/ሴ',
    signature: '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85',
  },
  'get-unreserved': {
    target: '/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
    signature: '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  },
  'get-header-key-duplicate': {
    headers: [
      ['My-Header1', 'value2'],
      ['My-Header1', 'value2'],
      ['My-Header1', 'value1'],
    ],
    signedHeaders: 'host;my-header1;x-amz-date',
    signature: 'c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea',
  },
  'get-header-value-order': {
    headers: [
      ['My-Header1', 'value4'],
      ['My-Header1', 'value1'],
      ['My-Header1', 'value3'],
      ['My-Header1', 'value2'],
    ],
    signedHeaders: 'host;my-header1;x-amz-date',
    signature: '08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01',
  },
  'get-header-value-trim': {
    headers: [
      ['My-Header1', ' value1'],
      ['My-Header2', ' "a   b   c"'],
    ],
    signedHeaders: 'host;my-header1;my-header2;x-amz-date',
    signature: 'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  },
  'normalize-path/get-relative': { target: '/example/..', signature: VANILLA },
  'normalize-path/get-relative-relative': { target: '/example1/example2/../..', signature: VANILLA },
  'normalize-path/get-slash': { target: '//', signature: VANILLA },
  'normalize-path/get-slash-dot-slash': { target: '/./', signature: VANILLA },
  'normalize-path/get-slash-pointless-dot': {
    target: '/./example',
    signature: 'ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5',
  },
  'normalize-path/get-slashes': {
    target: '//example//',
    signature: '9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84',
  },
  'normalize-path/get-space': {
    target: '/example space/',
    signature: '652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741',
  },
  'post-vanilla': { method: 'POST', signature: POST_VANILLA },
  'post-vanilla-query': { method: 'POST', target: '/?Param1=value1', signature: QUERY_OF_POST },
  'post-vanilla-empty-query-value': { method: 'POST', target: '/?Param1=value1', signature: QUERY_OF_POST },
  'post-header-key-case': { method: 'POST', signature: POST_VANILLA },
  'post-header-key-sort': {
    method: 'POST',
    headers: [['My-Header1', 'value1']],
    signedHeaders: 'host;my-header1;x-amz-date',
    signature: 'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
  },
  'post-header-value-case': {
    method: 'POST',
    headers: [['My-Header1', 'VALUE1']],
    signedHeaders: 'host;my-header1;x-amz-date',
    signature: 'cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d',
  },
  'post-x-www-form-urlencoded': {
    method: 'POST',
    headers: [FORM],
    body: 'Param1=value1',
    signedHeaders: 'content-type;host;x-amz-date',
    signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  },
  'post-x-www-form-urlencoded-parameters': {
    method: 'POST',
    headers: [['Content-Type', 'application/x-www-form-urlencoded; charset=utf8']],
    body: 'Param1=value1',
    signedHeaders: 'content-type;host;x-amz-date',
    signature: '1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe',
  },
};

/** As Node gives it: each character is a byte. */
const asBytes = (text: string) => Buffer.from(text).toString('latin1');

function requestOf({ method = 'GET', target = '/', headers = [], ...vector }: Vector): SentRequest {
  const [path = '', search = ''] = target.split('?');
  const authorization = `AWS4-HMAC-SHA256 Credential=${EXAMPLE_ID}/20150830/us-east-1/service/aws4_request, SignedHeaders=${vector.signedHeaders ?? 'host;x-amz-date'}, Signature=${vector.signature}`;
  return {
    method,
    path: asBytes(path),
    search: asBytes(search),
    headers: [HOST, ...headers, DATE, ['Authorization', authorization]],
  };
}

function read(request: SentRequest, terms = TERMS): Signature {
  const found = readSignature(received(request), terms);
  if (typeof found === 'string') throw new Error(found);
  return found;
}

/** Whether a request is verified, whatever it is refused for otherwise. */
function isTaken(request: SentRequest, body: string, terms = TERMS): boolean {
  const found = readSignature(received(request), terms);
  return (
    typeof found !== 'string' &&
    found.accessKeyId === EXAMPLE_ID &&
    isSignedWith(EXAMPLE_SECRET, found, received(request), bodyDigestOf(Buffer.from(body, 'latin1')))
  );
}

test.each(Object.entries(VECTORS))('AWS’s example %s is verified', (_, vector) => {
  const request = received(requestOf(vector));
  const signature = read(requestOf(vector), { service: 'service', now: NOW });
  const digest = bodyDigestOf(Buffer.from(vector.body ?? ''));
  expect(isSignedWith(EXAMPLE_SECRET, signature, request, digest)).toBe(true);
  expect(isSignedWith('another', signature, request, digest)).toBe(false);
  expect(isSignedWith(EXAMPLE_SECRET, signature, request, bodyDigestOf(Buffer.from('another')))).toBe(false);
});

const WITH = { accessKeyId: EXAMPLE_ID, secret: EXAMPLE_SECRET };
const PLAIN: SentRequest = {
  method: 'POST',
  path: '/v2/email/suppression/addresses/a%40b.com',
  search: 'PageSize=10&Reason=BOUNCE',
  headers: [HOST, DATE, ['X-Amz-Content-Sha256', 'x'], ['Content-Type', 'application/json']],
};

describe('a signature', () => {
  test('tells whose it is, and the digest of the body where that is sent', () => {
    expect(read(signed(PLAIN, '{}', WITH))).toMatchObject({
      accessKeyId: EXAMPLE_ID,
      scope: '20150830/eu-central-1/ses/aws4_request',
      signedHeaders: ['content-type', 'host', 'x-amz-content-sha256', 'x-amz-date'],
      bodyDigest: 'x',
    });
    expect(read(signed({ ...PLAIN, headers: [HOST, DATE] }, '{}', WITH)).bodyDigest).toBeNull();
  });

  test('may be of any region', () => {
    for (const region of ['us-east-1', 'local', 'waybill'])
      expect(isTaken(signed(PLAIN, '{}', { ...WITH, region }), '{}')).toBe(true);
  });

  test('is of at most fifteen minutes ago, or ahead', () => {
    const request = signed(PLAIN, '{}', WITH);
    for (const sign of [-1, 1]) {
      expect(isTaken(request, '{}', { service: 'ses', now: NOW + sign * 900_000 })).toBe(true);
      expect(readSignature(received(request), { service: 'ses', now: NOW + sign * 900_001 })).toBe('expired');
    }
  });

  const authorization = (change: (text: string) => string): SentRequest => {
    const { headers, ...request } = signed(PLAIN, '{}', WITH);
    return {
      ...request,
      headers: headers.map(([name, value]) => [name, name === 'Authorization' ? change(value) : value]),
    };
  };

  test.each<[string, SentRequest, string]>([
    ['without one', PLAIN, 'missing'],
    ['with an API key', authorization(() => 'Bearer wb_live_x'), 'missing'],
    ['in the query', { ...PLAIN, search: 'X-Amz-Algorithm=AWS4-HMAC-SHA256' }, 'presigned'],
    ['in the query, too', { ...signed(PLAIN, '{}', WITH), search: 'a=b&X-Amz-Signature=00' }, 'presigned'],
    ['of another service', signed(PLAIN, '{}', { ...WITH, service: 's3' }), 'incomplete'],
    ['without Host', signed({ ...PLAIN, headers: [DATE] }, '{}', WITH), 'incomplete'],
    ['without a time', signed({ ...PLAIN, headers: [HOST] }, '{}', WITH), 'incomplete'],
    ['with two times', signed({ ...PLAIN, headers: [HOST, DATE, DATE] }, '{}', WITH), 'incomplete'],
    [
      'of no time',
      signed({ ...PLAIN, headers: [HOST, ['X-Amz-Date', '20151330T123600Z']] }, '{}', WITH),
      'incomplete',
    ],
    [
      'that leaves out an x-amz header',
      { ...PLAIN, headers: [...signed(PLAIN, '{}', WITH).headers, ['x-amz-target', 'a']] },
      'incomplete',
    ],
    [
      'of a header that is not there',
      authorization((text) => text.replace('x-amz-date', 'x-amz-date;x-b')),
      'incomplete',
    ],
    [
      'with headers in no order',
      authorization((text) => text.replace('content-type;host', 'host;content-type')),
      'incomplete',
    ],
    ['with a header twice', authorization((text) => text.replace('host', 'host;host')), 'incomplete'],
    ['of another day', authorization((text) => text.replace('20150830', '20150831')), 'incomplete'],
    ['with a part twice', authorization((text) => `${text}, Signature=00`), 'incomplete'],
    ['with a part too few', authorization((text) => text.replace(/, Signature.*/, '')), 'incomplete'],
    ['that is too short', authorization((text) => text.slice(0, -1)), 'incomplete'],
    [
      'that is given twice',
      { ...PLAIN, headers: [...signed(PLAIN, '{}', WITH).headers, ['authorization', 'x']] },
      'incomplete',
    ],
  ])('%s is none', (_, request, refusal) => {
    expect(readSignature(received(request), TERMS)).toBe(refusal);
  });

  test('is of one form with blanks, commas or both between its parts', () => {
    for (const separator of [',', ' ', ', '])
      expect(
        isTaken(
          authorization((text) => text.replaceAll(', ', separator)),
          '{}',
        ),
      ).toBe(true);
  });
});

test('any changed byte is refused', () => {
  const plain = 'ABCXYZabcxyz0189-._~'.split('');
  const word = fc.string({ unit: fc.constantFrom(...plain), minLength: 1, maxLength: 12 });
  const segment = word.filter((text) => text !== '.' && text !== '..');
  const requests = fc.record({
    method: fc.constantFrom('GET', 'PUT', 'POST', 'DELETE'),
    path: fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => `/${segments.join('/')}`),
    search: fc
      .uniqueArray(fc.tuple(word, word), { minLength: 1, maxLength: 3, selector: ([name]) => name })
      .map((pairs) => pairs.map((pair) => pair.join('=')).join('&')),
    value: word,
    body: fc.string({ unit: 'binary-ascii', minLength: 1 }),
  });
  const changed = (text: string, place: number) => {
    const at = place % text.length;
    const other = plain.find((one) => one !== text[at] && one !== '.') ?? '';
    return text.slice(0, at) + other + text.slice(at + 1);
  };
  fc.assert(
    fc.property(requests, fc.nat(), ({ body, value, ...given }, place) => {
      const request = signed({ ...given, headers: [HOST, DATE, ['X-Amz-Meta', value]] }, body, WITH);
      expect(isTaken(request, body)).toBe(true);
      expect(isTaken(request, changed(body, place))).toBe(false);
      expect(isTaken({ ...request, method: changed(request.method, place) }, body)).toBe(false);
      expect(isTaken({ ...request, path: changed(request.path, place) }, body)).toBe(false);
      expect(isTaken({ ...request, search: changed(request.search, place) }, body)).toBe(false);
      for (const [index, [name, text]] of request.headers.entries()) {
        // Of the header, what it is a signature of is refused in other ways.
        const at = name === 'Authorization' ? text.indexOf('Signature=') + 10 + (place % 64) : place;
        const headers = request.headers.with(index, [name, changed(text, at)]);
        expect(isTaken({ ...request, headers }, body)).toBe(false);
      }
    }),
  );
});

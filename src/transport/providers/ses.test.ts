import { expect, test } from 'vitest';
import { signV4 } from './ses.ts';

/** What AWS publishes for testing the signature. */
const KNOWN = {
  headers: {},
  body: [],
  service: 'service',
  region: 'us-east-1',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  now: Date.UTC(2015, 7, 30, 12, 36),
};
const FORM = 'application/x-www-form-urlencoded; charset=utf-8';

test.each([
  ['GET', '/', {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['POST', '/', {}, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'GET',
    '/?Param2=value2&Param1=value1',
    {},
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
] as const)('%s %s is signed as AWS has it', (method, path, headers, signature) => {
  const url = new URL(path, 'https://example.amazonaws.com');
  expect(signV4({ ...KNOWN, method, url, headers })).toEqual({
    'x-amz-date': '20150830T123600Z',
    authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
  });
});

test('headers given are signed too, as in AWS’s example of ListUsers', () => {
  const url = new URL('https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08');
  const request = { ...KNOWN, service: 'iam', method: 'GET', url, headers: { 'Content-Type': FORM } };
  expect(signV4(request)['authorization']).toMatch(
    /SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7$/,
  );
});

test.each([
  ['the body', { body: [Buffer.from('x')] }],
  ['the path', { url: new URL('https://example.amazonaws.com/a') }],
  ['the time', { now: KNOWN.now + 1000 }],
  ['the secret', { secretAccessKey: 'another' }],
])('another signature where %s is another', (_what, change) => {
  const plain = { ...KNOWN, method: 'GET', url: new URL('https://example.amazonaws.com/') };
  expect(signV4({ ...plain, ...change })['authorization']).not.toBe(signV4(plain)['authorization']);
});

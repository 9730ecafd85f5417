import { expect, test } from 'vitest';
import { asciiOrcpt, isEnvid, isNotify, isOrcpt, orcptOf } from './dsn.ts';

test.each([
  ['QQ314159', true],
  ['a+2Bb+3D', true],
  ['a+b', false],
  ['a=b', false],
  ['a b', false],
  ['ü', false],
  ['', false],
  ['x'.repeat(101), false],
])('ENVID %j: %s', (text, valid) => {
  expect(isEnvid(text)).toBe(valid);
});

test.each([
  ['NEVER', true],
  ['SUCCESS,FAILURE,DELAY', true],
  ['NEVER,DELAY', false],
  ['SUCCESS,', false],
  ['delay', false],
])('NOTIFY %j: %s', (text, valid) => {
  expect(isNotify(text)).toBe(valid);
});

test('the ORCPT of any address can be written, and is read back as it', () => {
  for (const address of ['a@x.test', 'a+b=c@x.test', '"a\\"b"@x.test']) {
    const orcpt = orcptOf(address, false) ?? '';
    expect(isOrcpt(orcpt)).toBe(true);
    const [type, xtext = ''] = orcpt.split(';');
    expect(type).toBe('rfc822');
    expect(xtext.replace(/\+([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))).toBe(
      address,
    );
  }
  expect(orcptOf('jürgen@x.test', true)).toBe('utf-8;jürgen@x.test');
  expect(orcptOf('jürgen@x.test', false)).toBe('utf-8;j\\x{FC}rgen@x.test');
  expect(orcptOf(`${'+'.repeat(200)}@x.test`, false)).toBeNull();
  expect(asciiOrcpt('utf-8;😀@x.test')).toBe('utf-8;\\x{1F600}@x.test');
});

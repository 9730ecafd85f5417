import { describe, expect, test } from 'vitest';
import {
  checkHeader,
  checkHeaderTotals,
  checkSenderDomain,
  checkSubject,
  effectiveMessageId,
} from './headers.ts';

const code = (name: string, value: string) => checkHeader(name, value)?.code ?? null;

describe('names', () => {
  test.each([
    'Reply-To',
    'In-Reply-To',
    'References',
    'List-Unsubscribe',
    'List-Unsubscribe-Post',
    'X-Campaign',
    'Auto-Submitted',
    "Odd!#$%&'*+.^_`{|}~",
  ])('%s may be set', (name) => {
    expect(code(name, '<a@x.org>')).toBeNull();
  });

  test.each([
    'From',
    'TO',
    'cc',
    'Bcc',
    'Subject',
    'MIME-Version',
    'Content-Type',
    'content-foo',
    'Received',
    'Return-Path',
    'Resent-From',
    'X-Waybill-Tag',
    'DKIM-Signature',
    'ARC-Seal',
    'Authentication-Results',
  ])('%s is refused by name', (name) => {
    expect(checkHeader(name, 'x')).toEqual({
      code: 'header_forbidden',
      detail: expect.stringContaining(`The header ${name} cannot be set`),
    });
  });

  test.each(['', 'a b', 'a:', 'ü', 'a\r\nb', 'a\0', 'x'.repeat(77)])('%j is no name', (name) => {
    expect(code(name, 'x')).toBe('header_name');
  });
});

describe('values', () => {
  test.each([
    ['X-A', 'any – text', null],
    ['X-A', '', null],
    ['X-A', 'a\rb', 'header_value'],
    ['X-A', 'a\nb', 'header_value'],
    ['X-A', 'a\0b', 'header_value'],
    ['Date', 'Fri, 20 Nov 2026 11:15:00 +0000', null],
    ['Date', '2026-11-20T11:15:00Z', 'header_date'],
    ['Message-ID', '<a.b@x.org>', null],
    ['Message-ID', '<a@[192.0.2.1]>', null],
    ['Message-ID', 'a@x.org', 'header_message_id'],
    ['Message-ID', '<a b@x.org>', 'header_message_id'],
    ['Message-ID', '<a@b@x.org>', 'header_message_id'],
    ['Message-ID', `<${'a'.repeat(900)}@x.org>`, 'header_message_id'],
    ['Reply-To', 'Jörg <a@x.org>, b@x.org', null],
    ['Reply-To', 'nobody', 'header_address'],
    ['Reply-To', ' ', 'header_address'],
    ['Sender', 'a@x.org', null],
    ['Sender', 'a@x.org, b@x.org', 'header_address'],
    ['List-Unsubscribe', '<mailto:u@x.org>, <https://x.org/ü>', 'header_value'],
    ['References', `<${'a'.repeat(1000)}@x.org>`, 'header_value'],
  ])('%s: %j', (name, value, expected) => {
    expect(code(name, value)).toBe(expected);
  });

  test('a subject is any text on one line', () => {
    expect(checkSubject('Grüße 👋 <>')).toBeNull();
    expect(checkSubject('é'.repeat(2000))).toBeNull();
    expect(checkSubject('é'.repeat(2001))?.code).toBe('subject_too_long');
    for (const mark of ['\u202a', '\u202d', '\u202e', '\u2066', '\u2069'])
      expect(checkSubject(`a${mark}b`)?.code).toBe('subject_value');
    expect(checkSubject('שלום\u200f! مرحبا\u200e')).toBeNull();
    for (const subject of ['a\rb', 'a\nb', 'a\0b']) expect(checkSubject(subject)?.code).toBe('subject_value');
  });
});

describe('all together', () => {
  const limits = { maxHeaders: 3, maxHeaderBytes: 20 };
  test.each<[string, [string, string][], string | null]>([
    ['none', [], null],
    [
      'at the limits',
      [
        ['A', '123456789'],
        ['B', '12345678'],
        ['C', ''],
      ],
      null,
    ],
    [
      'one too many',
      [
        ['A', ''],
        ['B', ''],
        ['C', ''],
        ['D', ''],
      ],
      'header_count',
    ],
    [
      'a byte too much',
      [
        ['A', '123456789'],
        ['B', '123456789'],
        ['C', ''],
      ],
      'header_size',
    ],
    ['bytes, not characters', [['A', 'ü'.repeat(10)]], 'header_size'],
    [
      'repeated',
      [
        ['X-A', '1'],
        ['X-A', '2'],
      ],
      null,
    ],
    [
      'repeated Reply-To',
      [
        ['Reply-To', '1'],
        ['reply-to', '2'],
      ],
      'header_repeated',
    ],
    [
      'repeated List-Id',
      [
        ['List-Id', '1'],
        ['list-id', '2'],
      ],
      'header_repeated',
    ],
  ])('%s', (_, headers, expected) => {
    expect(checkHeaderTotals(headers, limits)?.code ?? null).toBe(expected);
  });

  test('Sender stays on the domain of From', () => {
    const check = (value: string) => checkSenderDomain([['sender', value]], 'xn--bcher-kva.example');
    expect(checkSenderDomain([], 'x.org')).toBeNull();
    expect(check('Office <office@BÜCHER.example>')).toBeNull();
    expect(check('a@sub.bücher.example')?.code).toBe('header_sender_domain');
    expect(check('nobody')?.code).toBe('header_sender_domain');
  });

  test('the Message-ID is the one given, else ours', () => {
    expect(effectiveMessageId([['MESSAGE-ID', '<a@x.org>']], '<b@x.org>')).toBe('<a@x.org>');
    expect(effectiveMessageId([['X-A', 'b']], '<b@x.org>')).toBe('<b@x.org>');
  });
});

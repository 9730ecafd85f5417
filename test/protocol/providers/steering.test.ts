/** No client steers a provider by header fields, whichever provider it is. */
import { expect, test } from 'vitest';
import { STEERING_PREFIXES } from '../../../src/transport/providers/limits.ts';
import { only } from '../smtp-out/rig.ts';
import { SETTINGS, startProvider } from './rig.ts';

const HEAD = 'From: sender@example.org\r\nTo: recipient@example.net\r\nSubject: x\r\n';

test.each([
  ['ses', 'X-SES-CONFIGURATION-SET'],
  ['ses', 'X-Ses-Message-Tags'],
  ['mailgun', 'X-Mailgun-Drop-Message'],
  ['postmark', 'X-PM-Message-Stream'],
  ['sendgrid', 'X-SMTPAPI'],
  ['sendgrid', 'X-SG-EID'],
  ['resend', 'Resend-Idempotency-Key'],
] as const)('%s: %s', async (type, name) => {
  for (const field of [
    `${name}: yes`,
    `${name.toUpperCase()} \t: yes`,
    `${name.toLowerCase()}:\r\n yes`,
    `X-Other: a\r\n \t\r\n${name}: yes`,
  ]) {
    const rig = await startProvider(SETTINGS[type]);
    const content = `${HEAD}${field}\r\nX-After: 1\r\n\r\nHello.\r\n`;
    const result = await rig.deliver({ content });
    expect(only(result)).toMatchObject({
      kind: 'rejected',
      hopBound: true,
      hopFailed: false,
      cause: 'steers_provider',
      text: expect.stringContaining(field.match(/x-other/i) ? name : (/^[^ \t:]+/.exec(field)?.[0] ?? '')),
    });
    expect(rig.api.connections).toBe(0);
  }
});

test('the commands of another provider are no commands, nor is what stands in a text', async () => {
  const rig = await startProvider(SETTINGS.mailgun);
  const content = `${HEAD}X-PM-Tag: a\r\nX-Note: b\r\n X-Mailgun-Tag: c\r\n\r\nX-Mailgun-Tag: d\r\n`;
  rig.api.script.push({ kind: 'answer', status: 200, body: '{"id":"1"}' });
  expect(only(await rig.deliver({ content })).kind).toBe('delivered');
});

test('a header too large to be looked through is refused', async () => {
  const rig = await startProvider(SETTINGS.ses);
  const content = `${`X-Fill: ${'a'.repeat(900)}\r\n`.repeat(1200)}X-SES-Source-Arn: x\r\n\r\nHello.\r\n`;
  expect(only(await rig.deliver({ content }))).toMatchObject({
    kind: 'rejected',
    hopBound: true,
    cause: 'header_too_large',
  });
});

test('every provider has its list, of names in lower case', () => {
  expect(Object.keys(STEERING_PREFIXES).toSorted()).toEqual(Object.keys(SETTINGS).toSorted());
  for (const prefix of Object.values(STEERING_PREFIXES).flat()) expect(prefix).toMatch(/^[a-z-]+$/);
});

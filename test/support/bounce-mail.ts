/** Mail that tells what became of other mail, and how servers of strangers bring it. */
import type { TestContext } from 'vitest';
import { SmtpClient } from '../peers/smtp-client.ts';

/** The lines of a notification (RFC 3464) of what became of mail to an address. */
export function notification(action: 'failed' | 'delivered', address: string): readonly string[] {
  const isFailed = action === 'failed';
  return [
    'From: MAILER-DAEMON@mx.one.test',
    'Subject: Delivery Status Notification',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.one.test',
    '',
    `Final-Recipient: rfc822; ${address}`,
    `Action: ${action}`,
    `Status: ${isFailed ? '5.1.1' : '2.0.0'}`,
    ...(isFailed ? ['Diagnostic-Code: smtp; 550 5.1.1 no such user'] : []),
    '',
    '--b--',
  ];
}

/** The lines of a complaint (RFC 5965) of whoever has an address, about mail that came with a return path. */
export function complaint(address: string, returnPath: string): readonly string[] {
  return [
    'From: feedback@mx.one.test',
    'Subject: Complaint',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    '',
    '--b',
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: abuse',
    'User-Agent: one.test/1.0',
    'Version: 1',
    `Original-Rcpt-To: <${address}>`,
    '',
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    `Return-Path: <${returnPath}>`,
    '',
    '--b--',
  ];
}

/** That mail to a return path was taken. */
export const TAKEN = /^250 2\.0\.0 .*taken as fbk_[0-9a-z]{26}$/;

/** A transaction; the reply to its end, or the first refusal. */
export async function transact(
  client: SmtpClient,
  recipients: readonly string[],
  lines: readonly string[],
  from = '',
): Promise<string> {
  const envelope = [`MAIL FROM:<${from}>`, ...recipients.map((to) => `RCPT TO:<${to}>`)];
  for (const line of [...envelope, 'DATA']) {
    const reply = await client.ask(line);
    if (!/^[23]/.test(reply)) return reply;
  }
  client.say(...lines, '.');
  return await client.reply();
}

/** Brings mail to a port of the listener as a server of strangers does; the reply to its end, or the first refusal. */
export async function bring(
  port: number,
  to: string,
  lines: readonly string[],
  options: { readonly test?: Pick<TestContext, 'onTestFinished'> } = {},
): Promise<string> {
  const client = await SmtpClient.connect(port, options);
  try {
    await client.reply();
    const reply = await client.ask('EHLO mx.one.test');
    return reply.startsWith('2') ? await transact(client, [to], lines) : reply;
  } finally {
    client.destroy();
  }
}

/** Proofs that others made: by the providers themselves, in the tests of their SDKs, or by who takes their webhooks. */
import { expect, test } from 'vitest';
import { SETTINGS } from '../../../test/support/hook-requests.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { HookType } from '../../domain/relay.ts';
import type { HookSettings } from '../../domain/relay-hook.ts';
import { Hooks } from './hooks.ts';

interface Vector {
  /** Where it was read. */
  readonly source: string;
  readonly type: HookType;
  readonly settings: Partial<HookSettings>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Wall ms at which it is fresh. */
  readonly at: number;
}

const SENDGRID =
  'https://github.com/sendgrid/sendgrid-nodejs, packages/eventwebhook/src/eventwebhook.spec.js';

const VECTORS: readonly Vector[] = [
  {
    source: SENDGRID,
    type: 'sendgrid',
    settings: {
      publicKey:
        'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==',
    },
    headers: {
      'x-twilio-email-event-webhook-signature':
        'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
      'x-twilio-email-event-webhook-timestamp': '1600112502',
    },
    body: `${JSON.stringify([
      {
        email: 'hello@world.com',
        event: 'dropped',
        reason: 'Bounced Address',
        sg_event_id: 'ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA',
        sg_message_id: 'LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0',
        'smtp-id': '<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>',
        timestamp: 1600112492,
      },
    ])}\r\n`,
    at: 1_600_112_502_000,
  },
  {
    source: SENDGRID,
    type: 'sendgrid',
    settings: {
      publicKey:
        'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEQ4LIFtWztlsF7skFqOncjD1lun4H5w8XOhyOArHW9RcIx/FfEzx6cikC/yPfUvwaX/JScE7Fc9CJD2afQ9Ok3Q==',
    },
    headers: {
      'x-twilio-email-event-webhook-signature':
        'MEYCIQC/I4o6vCgqRYrTljjoVWB/GRWNtxeePlLMHr3x9ETeRQIhAIpV+03nREPTTHWSW0wIOA0EoMPdcNgXa70yCaqDJlu5',
      'x-twilio-email-event-webhook-timestamp': '1619651159',
    },
    body: `[${[
      {
        email: 'invalid@gmail.com',
        event: 'processed',
        send_at: 0,
        sg_event_id: 'cHJvY2Vzc2VkLTE5OTQyMTEyLXFOd0JMZ1BRUWpXNkRKdktRd1NBYnctMA',
        sg_message_id: 'qNwBLgPQQjW6DJvKQwSAbw.filterdrecv-canary-547b64655b-cw6zx-1-6089EA4A-56.0',
        'smtp-id': '<qNwBLgPQQjW6DJvKQwSAbw@ismtpd0178p1mdw1.sendgrid.net>',
        timestamp: 1619651146,
      },
      {
        email: 'invalid@gmail.com',
        event: 'bounce',
        ip: '167.89.101.76',
        reason:
          '552 5.2.2 The email account that you tried to reach is over quota and inactive. Please direct the recipient to https://support.google.com/mail/?p=OverQuotaPerm c17si1130468pgv.34 - gsmtp',
        sg_event_id: 'Ym91bmNlLTAtMTk5NDIxMTItcU53QkxnUFFRalc2REp2S1F3U0Fidy0w',
        sg_message_id: 'qNwBLgPQQjW6DJvKQwSAbw.filterdrecv-canary-547b64655b-cw6zx-1-6089EA4A-56.0',
        'smtp-id': '<qNwBLgPQQjW6DJvKQwSAbw@ismtpd0178p1mdw1.sendgrid.net>',
        status: '5.2.2',
        timestamp: 1619651147,
        tls: 1,
        type: 'blocked',
      },
    ]
      .map((event) => JSON.stringify(event))
      .join(',\r\n')}]\r\n`,
    at: 1_619_651_159_000,
  },
  {
    source: 'https://docs.svix.com/receiving/verifying-payloads/how-manual',
    type: 'resend',
    settings: { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
    headers: {
      'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'svix-timestamp': '1614265330',
      'svix-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
    at: 1_614_265_330_000,
  },
  {
    source: 'https://gitlab.com/gitlab-org/gitlab, spec/requests/members/mailgun/permanent_failure_spec.rb',
    type: 'mailgun',
    settings: { secret: 'abc123' },
    headers: {},
    body: JSON.stringify({
      signature: {
        timestamp: '1625056677',
        token: 'eb944d0ace7227667a1b97d2d07276ae51d2b849ed2cfa68f3',
        signature: '9790cc6686eb70f0b1f869180d906870cdfd496d27fee81da0aa86b9e539e790',
      },
      'event-data': { event: 'failed', severity: 'permanent' },
    }),
    at: 1_625_056_677_000,
  },
];

test.each(VECTORS)('a proof of $type from $source', async ({ type, settings, headers, body, at }) => {
  const hooks = new Hooks({ get: async () => ({ kind: 'failed', text: 'no' }), clock: new ManualClock() });
  const request = { headers, body: Buffer.from(body) };
  const given = { ...SETTINGS, ...settings };
  expect(await hooks.prove(type, request, given, at)).toEqual({ kind: 'proven' });
  expect(await hooks.prove(type, request, SETTINGS, at)).toMatchObject({ kind: 'bad' });
  expect(await hooks.prove(type, request, given, at + 86_400_001)).toMatchObject({ kind: 'bad' });
});

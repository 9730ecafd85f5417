/** Sizes and times in the configuration, with their units. */
import { expect, test } from 'vitest';
import { formatFault } from './fault.ts';
import { resolve } from './resolve.ts';

test('sizes and times take units in the file and the environment, and null in their place', () => {
  const { config, faults } = resolve({
    environment: { WAYBILL_API__MAX_MESSAGE_BYTES: '10MiB', WAYBILL_RETENTION__CONTENT_DAYS: '48h' },
    file: {
      path: '/etc/waybill.yaml',
      text: `
limits: { max_queued_bytes: 500GiB }
delivery: { default_relay: out, retry_max_seconds: 2h }
relays: [{ name: out, type: mx, helo: mail.example.com, max_message_bytes: 20MB }]
routes: [{ match: { min_bytes: 1MiB }, via: [out] }]`,
    },
    stored: { settings: new Map([['webui.session_timeout_minutes', '"2h"']]), relays: [] },
    readSecret: () => '',
  });
  expect(faults).toEqual([]);
  expect(config.api.maxMessageBytes).toBe(10 * 1024 ** 2);
  expect(config.retention.contentDays).toBe(2);
  expect(config.limits.maxQueuedBytes).toBe(500 * 1024 ** 3);
  expect(config.delivery.retryMaxSeconds).toBe(7200);
  expect(config.webui.sessionTimeoutMinutes).toBe(120);
  expect(config.relays.find(({ name }) => name === 'out')?.limits.maxMessageBytes).toBe(20_000_000);
  expect(config.routes[0]?.match.minBytes).toBe(1024 ** 2);
});

test('a size or time that is wrong is refused with the units there are', () => {
  const text = 'webui: { session_timeout_minutes: 90s }\nlimits: { max_queued_bytes: 5gb }';
  const { faults } = resolve({
    environment: {},
    file: { path: '/etc/waybill.yaml', text },
    stored: { settings: new Map(), relays: [] },
    readSecret: () => '',
  });
  expect(faults.map(formatFault)).toEqual([
    'webui.session_timeout_minutes = "90s": must be a whole number from 1 to 525600 minutes, or a whole number of minutes ' +
      'with a unit (ms, s, m, min, h, d), such as 30m, 8h or 1d (file /etc/waybill.yaml)',
    'limits.max_queued_bytes = "5gb": must be a whole number of at least 1048576 bytes, or a whole number of bytes ' +
      'with a unit (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), such as 512KiB, 25MiB or 10GB, or null (file /etc/waybill.yaml)',
  ]);
});

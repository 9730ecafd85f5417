import { expect, test } from 'vitest';
import { formatFault } from './fault.ts';
import { resolve } from './resolve.ts';
import type { Sources } from './sources.ts';

function sources(text: string): Sources {
  return {
    environment: {},
    file: { path: '/etc/waybill.yaml', text },
    stored: { settings: new Map(), relays: [] },
    readSecret: () => '',
  };
}

test('settings in a group of a section are read from each source, nested or by their whole names', () => {
  const { config, faults } = resolve({
    ...sources('suppressions:\n  scope: { hard_bounce: key }\n  expire_days.soft: 7d\n  soft_bounces: 3'),
    environment: { WAYBILL_SUPPRESSIONS__SCOPE__COMPLAINT: 'global' },
    stored: {
      settings: new Map([
        ['suppressions.expire_days.hard', '400'],
        ['suppressions.scope.hard_bounce', '"domain"'],
      ]),
      relays: [],
    },
  });
  expect(faults).toEqual([]);
  expect(config.suppressions).toEqual({
    scope: { hardBounce: 'key', complaint: 'global', unsubscribe: 'domain' },
    expireDays: { hard: 400, soft: 7, provider: 90, complaint: 0, unsubscribe: 0 },
    softBounces: 3,
  });
});

test('a group is a map of settings that exist', () => {
  const yaml = 'suppressions: { scope: global, expire_days: { hard: never, hards: 1 } }';
  expect(resolve(sources(yaml)).faults.map(formatFault)).toEqual([
    expect.stringMatching(/^suppressions.scope = "global": must be a map of settings/),
    expect.stringMatching(/^suppressions.expire_days.hards: .*did you mean suppressions.expire_days.hard\?/),
    expect.stringMatching(/^suppressions.expire_days.hard = "never": must be a whole number/),
  ]);
});

import { expect, test } from 'vitest';
import { formatFault } from './fault.ts';
import { resolve } from './resolve.ts';

const ROW = '{ name: shop, url: "https://shop.example.com/", secret_file: /run/secrets/shop }';

function resolved(rows: string) {
  return resolve({
    environment: {},
    file: { path: '/etc/waybill.yaml', text: `webhooks: { endpoints: [${rows}] }` },
    stored: { settings: new Map(), relays: [] },
    readSecret: () => '',
  });
}

test('an endpoint has the usual values where the file says nothing', () => {
  const { config, faults } = resolved(ROW);
  expect(faults).toEqual([]);
  expect(config.webhooks.endpoints).toEqual([
    {
      name: 'shop',
      url: 'https://shop.example.com/',
      secretFile: '/run/secrets/shop',
      types: ['message.*'],
      keys: [],
      tags: [],
      description: '',
      includesSubject: false,
      enabled: true,
      allowPrivate: false,
    },
  ]);
});

test.each([
  [`${ROW}, ${ROW}`, 'webhooks.endpoints[1].name = "shop": is the name of webhooks.endpoints[0] too'],
  ['{ name: shop }', 'webhooks.endpoints[0].url: must be given'],
  [
    ROW.replace('}', ', types: [mail.*] }'),
    'webhooks.endpoints[0].types[0] = "mail.*": must be a type of event',
  ],
  [ROW.replace('}', ', headers: {} }'), 'webhooks.endpoints[0].headers: no such field'],
])('%s is refused by the member that is wrong', (rows, fault) => {
  expect(resolved(rows).faults.map(formatFault).join('\n')).toContain(fault);
});

test('webhooks.private_urls lists URLs, or says that any may be private', () => {
  const of = (urls: string) =>
    resolve({
      environment: { WAYBILL_WEBHOOKS__PRIVATE_URLS: urls },
      file: null,
      stored: { settings: new Map(), relays: [] },
      readSecret: () => '',
    });
  expect(of('*').config.webhooks.privateUrls).toEqual(['*']);
  expect(of('http://10.0.0.5/a').config.webhooks.privateUrls).toEqual(['http://10.0.0.5/a']);
  expect(of('http://*').faults.map(formatFault).join()).toContain('or * for any');
});

import type { IncomingHttpHeaders } from 'node:http';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../e2e/service.ts';
import { describeWith } from '../peers/need.ts';
import { endReceivers, receiver } from '../peers/webhook-receiver.ts';
import { CAPTURING, Dashboard, NEEDED } from './dashboard.ts';
import { settled, tooWide } from './looks.ts';

/** Programs that are told what becomes of mail: an endpoint from its first day to its last. */

/** Where another program listens. */
const OTHER = '/other';
const ANGRY = '<h1>Broken</h1><script>alert(1)</script>\u202eevil';

describeWith(NEEDED, 'an endpoint of webhooks', () => {
  let dashboard: Dashboard;
  let shop: Client;
  let page: Page;
  let url: string;
  let other: string;
  /** What the program behind the URL answers, and what it was told. */
  let answer = 200;
  const told: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  let secret = '';

  beforeAll(async () => {
    url = await receiver((request, response, body) => {
      told.push({ path: request.url ?? '', headers: request.headers, body: body.toString() });
      response.statusCode = answer;
      response.end(answer === 200 ? 'thanks' : ANGRY);
    });
    other = new URL(OTHER, url).href;
    dashboard = await Dashboard.start(`${CAPTURING}
delivery: { default_relay: inbox }
webhooks: { private_urls: ["${url}", "${other}"] }
`);
    await dashboard.claim();
    shop = await dashboard.client('shop');
    page = await dashboard.signedIn('/');
  }, 120_000);
  afterAll(async () => {
    await dashboard.stop();
    await endReceivers();
    expect([[...dashboard.strays], dashboard.surprises]).toEqual([[], []]);
  });

  const dialog = () => page.getByRole('dialog');
  const row = (text: string) => page.getByRole('row').filter({ hasText: text });
  const act = async (name: string) => {
    await page.getByRole('button', { name: `What to do with ${url}` }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  const send = async (count: number) => {
    const letter = { from: 'a@example.com', to: ['ann@example.net'], subject: 'Hello', text: 'Hi' };
    for (let i = 0; i < count; i++) await shop.send({ ...letter, tags: ['orders'] });
  };

  test('is added by keys and fields, and its secret is shown once, with a test', async () => {
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await page.getByText('Nobody is told yet').waitFor();
    await page.getByRole('button', { name: 'Add endpoint' }).first().click();
    await dialog().getByRole('button', { name: 'Add endpoint' }).click();
    await dialog().getByText('Enter a URL.').waitFor();
    await dialog().getByLabel('URL').fill('http://intranet.example/');
    await dialog().getByRole('button', { name: 'Add endpoint' }).click();
    await dialog()
      .getByText(/^Must begin with https:/)
      .waitFor();
    await dialog().getByLabel('URL').fill(url);
    await dialog().getByLabel('Description').fill('Order service');
    await dialog().getByRole('button', { name: 'Choose types of Messages' }).click();
    await dialog()
      .getByRole('checkbox', { name: /^message.delivered/ })
      .click();
    await dialog().getByRole('combobox', { name: 'Only messages of these API keys' }).click();
    await page.getByRole('option', { name: 'shop' }).click();
    await dialog().getByLabel('Only messages with one of these tags').fill('orders');
    await page.keyboard.press('Enter');
    await dialog().getByRole('checkbox', { name: 'Include the subject' }).click();
    await dialog().getByRole('button', { name: 'Add a header' }).click();
    await dialog().getByLabel('Value of header 1').fill('warehouse');
    await dialog().getByRole('button', { name: 'Add endpoint' }).click();
    await dialog().getByText('Enter a name for each header.').waitFor();
    await dialog().getByLabel('Name of header 1').fill('X-Team');
    await dialog().getByRole('button', { name: 'Add endpoint' }).click();
    secret = await dialog().getByRole('status', { name: 'signing secret' }).innerText();
    expect(secret).toMatch(/^whsec_/);
    await dialog().getByRole('button', { name: 'Copy signing secret' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await dialog().getByRole('button', { name: 'Post a test event to it' }).click();
    await dialog().getByText('It works: the endpoint took the event.').waitFor();
    await dialog().getByText('thanks', { exact: true }).waitFor();
    const [test] = told;
    expect(test?.headers['x-team']).toBe('warehouse');
    new Webhook(secret).verify(test?.body ?? '', test?.headers as Record<string, string>);
    // It is still there for who tests first and copies then.
    await dialog().getByText(secret).waitFor();
    await dialog().getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('heading', { name: url }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Webhooks' }).click();
    await row(url).getByText('of key shop; tag orders').waitFor();
    expect(await page.content()).not.toContain(secret);
  });

  test('that fails says why, and shows each answer as text, with what was posted', async () => {
    answer = 500;
    told.length = 0;
    await send(6);
    await page.getByText('Failing', { exact: true }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByText('It is failing').waitFor();
    await page.getByText(/It answered 500\./).waitFor();
    await page.getByRole('button', { name: 'Failed', exact: true }).click();
    await page.getByText('No delivery is failed').waitFor();
    await page.getByRole('button', { name: 'Pending', exact: true }).click();
    await settled(page);
    expect(new URL(page.url()).searchParams.get('status')).toBe('pending');
    await row('message.queued').last().getByRole('button').click();
    await dialog()
      .getByText(/<script>alert\(1\)<\/script>\\u202eevil/)
      .first()
      .waitFor();
    await dialog()
      .getByText(/"type": "message.queued"/)
      .waitFor();
    await dialog().getByRole('link', { name: /^msg_/ }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => tooWide(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await expect.poll(() => tooWide(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('that recovers is told what pends, and again what is replayed, and the page shows it by itself', async () => {
    await row('message.queued').last().getByRole('button').click();
    await dialog().getByRole('button', { name: 'Try now' }).waitFor();
    answer = 200;
    // Its own turn may come before the click: then it is told once more.
    await dialog()
      .getByRole('button', { name: /^(Try now|Tell it again)$/ })
      .click();
    await dialog().getByText('It is told again.').waitFor();
    // Its own turn may come at the same time: then it is told twice.
    await dialog().getByText('thanks', { exact: true }).first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('main').getByText('Healthy', { exact: true }).waitFor();
    await page.getByText('Nothing is pending.').waitFor();
    await page.getByRole('button', { name: 'Delivered', exact: true }).click();
    await expect.poll(() => row('200').count()).toBe(12);
    told.length = 0;
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await dialog().getByRole('button', { name: 'Replay' }).click();
    await page.getByText('There was nothing to tell again').waitFor();
    await row('message.captured').first().getByRole('button').click();
    await dialog().getByRole('button', { name: 'Tell it again' }).click();
    await expect.poll(() => told.length).toBe(1);
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    told.length = 0;
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await dialog().getByRole('combobox', { name: 'Which events' }).click();
    await page.getByRole('option', { name: 'All, once more' }).click();
    await dialog().getByRole('button', { name: 'Only some types of events' }).click();
    await dialog().getByRole('button', { name: 'Choose types of Messages' }).click();
    await dialog()
      .getByRole('checkbox', { name: /^message.queued/ })
      .click();
    await dialog().getByRole('button', { name: 'Replay' }).click();
    await page.getByText('6 events on the way').waitFor();
    await expect.poll(() => told.length).toBe(6);
    expect(new Set(told.map(({ body }) => JSON.parse(body).data.message.subject))).toEqual(
      new Set(['Hello']),
    );
  });

  test('that was off is told what it missed, since it was switched off', async () => {
    const { installation } = dashboard;
    const { stdout } = await installation.run('webhooks', 'add', other, '--json');
    await act('Disable');
    await dialog().getByRole('button', { name: 'Disable endpoint' }).click();
    await page.getByText('It is off').waitFor();
    told.length = 0;
    await send(1);
    // Another endpoint is told of them: they have passed the one that is off.
    await expect.poll(() => told.map(({ path }) => path)).toEqual([OTHER, OTHER]);
    await installation.run('webhooks', 'remove', JSON.parse(stdout).webhook.id);
    told.length = 0;
    await page.getByRole('button', { name: 'Enable' }).click();
    await dialog().getByText('Tell it what it missed?').waitFor();
    const since = await dialog().getByLabel('Since (UTC)').inputValue();
    expect(Date.now() - Date.parse(`${since}Z`)).toBeLessThan(600_000);
    await dialog().getByRole('button', { name: 'Replay' }).click();
    await page.getByText('2 events on the way').waitFor();
    await expect.poll(() => told.length).toBe(2);
  });

  test('of the file has a lock, and is only tested and replayed', async () => {
    await page.route('**/api/call/listWebhooks', async (route) => {
      const response = await route.fetch();
      const { webhooks } = await response.json();
      const ofFile = webhooks.map((one: object) => ({ ...one, source: 'file' }));
      await route.fulfill({ response, json: { webhooks: ofFile } });
    });
    await page.reload();
    await page.getByText('From the file').waitFor();
    await page.getByRole('button', { name: `What to do with ${url}` }).click();
    await page.getByRole('menuitem', { name: 'Replay events' }).waitFor();
    expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['Test', 'Replay events']);
    await page.keyboard.press('Escape');
    await page.unroute('**/api/call/listWebhooks');
    await page.reload();
  });

  test('gets another secret while the old one signs, too, and is changed and removed', async () => {
    await act('Rotate');
    await dialog().getByRole('button', { name: 'Make a new secret' }).click();
    await dialog().getByText('24 more hours').waitFor();
    const next = await dialog().getByRole('status', { name: 'signing secret' }).innerText();
    told.length = 0;
    await dialog().getByRole('button', { name: 'Post a test event to it' }).click();
    await dialog().getByText('It works: the endpoint took the event.').waitFor();
    const [test] = told;
    for (const one of [secret, next])
      new Webhook(one).verify(test?.body ?? '', test?.headers as Record<string, string>);
    await dialog().getByRole('button', { name: 'I have copied it' }).click();
    await act('Test');
    await dialog().getByText('It works: the endpoint took the event.').waitFor();
    await dialog().getByRole('button', { name: 'Done' }).click();
    await act('Change');
    expect(await dialog().getByLabel('Name of header 1').inputValue()).toBe('X-Team');
    await dialog().getByLabel('Description').fill('The warehouse');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByText('The warehouse').waitFor();
    await act('Remove');
    await dialog().getByRole('button', { name: 'Remove endpoint' }).click();
    await page.getByText('Nobody is told yet').waitFor();
    expect(new URL(page.url()).pathname).toBe('/webhooks');
  });

  test('is not for people who are no administrators', async () => {
    const operator = await dashboard.signedIn('/');
    await operator.route('**/api/session', async (route) => {
      const response = await route.fetch();
      const session = await response.json();
      await route.fulfill({ response, json: { ...session, user: { ...session.user, role: 'operator' } } });
    });
    await operator.goto('/webhooks');
    await operator.getByText('Only administrators see this').waitFor();
    expect(await operator.getByRole('link', { name: 'Webhooks' }).count()).toBe(0);
    await operator.goto('/webhooks/whe_01k9f5y7f0e2c4a8b6d0e2f4g6');
    await operator.getByText('Only administrators see this').waitFor();
  });
});

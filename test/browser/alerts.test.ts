import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { endReceivers, receiver } from '../peers/webhook-receiver.ts';
import { Dashboard, NEEDED } from './dashboard.ts';
import { coloured, faultsByAxe, tooWide } from './looks.ts';

/** Alerts: from a page on which nothing is wrong to one that fired, was told, and is over. */

describeWith(NEEDED, 'alerts', () => {
  let dashboard: Dashboard;
  let sink: SmtpSink;
  let page: Page;
  let url: string;
  let answer = 500;
  const told: { readonly type: string; readonly data: { readonly rule: string; readonly text: string } }[] =
    [];

  beforeAll(async () => {
    sink = await startSmtpSink();
    url = await receiver((_request, response, body) => {
      told.push(JSON.parse(body.toString()));
      response.writeHead(answer).end(answer === 200 ? '' : '<b>broken</b>\u202e');
    });
    dashboard = await Dashboard.start(`
api: { port: 0, bind: ["127.0.0.1"] }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [0], bind: ["127.0.0.1"] }
delivery: { default_relay: out }
webhooks: { private_urls: ["${url}"] }
relays:
  - { name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none, max_per_day: 10 }
`);
    await dashboard.claim();
    page = await dashboard.signedIn('/alerts');
  }, 120_000);
  afterAll(async () => {
    await dashboard.stop();
    await sink.close();
    await endReceivers();
    expect([[...dashboard.strays], dashboard.surprises]).toEqual([[], []]);
  });

  const dialog = () => page.getByRole('dialog');

  test('are empty at first, and say that nobody is told', async () => {
    await page.getByRole('heading', { name: 'Nothing is wrong' }).waitFor();
    await page.getByText('Nobody is told', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Channels' }).click();
    await page.getByRole('heading', { name: 'Nobody is told yet' }).waitFor();
  });

  test('are told to a channel whose secret is shown once, and whose test says what it answered', async () => {
    await page.getByRole('button', { name: 'Add channel' }).click();
    await dialog().getByRole('button', { name: 'Add channel' }).click();
    await dialog().getByText('Name a recipient.').waitFor();
    await dialog().getByLabel('Kind').click();
    await page.getByRole('option', { name: 'Webhook' }).click();
    await dialog().getByLabel('Name').fill('ops');
    await dialog().getByLabel('URL').fill(url);
    await dialog().getByLabel('Webhook is told of').click();
    await page.getByRole('option', { name: 'All alerts' }).click();
    await dialog().getByRole('button', { name: 'Add channel' }).click();
    expect(await dialog().getByLabel('signing secret', { exact: true }).innerText()).toMatch(/^whsec_/);
    // It is shown this once: a slip does not close it.
    await page.keyboard.press('Escape');
    expect(await dialog().getByRole('button', { name: 'Close' }).count()).toBe(0);
    await dialog().getByRole('button', { name: 'I have copied it' }).click();
    await dialog().getByText('It does not work yet').waitFor();
    await dialog().getByText('It answered 500: <b>broken</b>').waitFor();
    answer = 200;
    await dialog().getByRole('button', { name: 'Test again' }).click();
    await dialog().getByText('It works: the channel took it.').waitFor();
    await dialog().getByRole('button', { name: 'Done' }).click();
    expect(told.map(({ type }) => type)).toEqual(['alert.test', 'alert.test']);
    await page.getByRole('table', { name: 'Channels' }).getByText('ops', { exact: true }).waitFor();
  });

  test('fire by a rule that is changed here, and are told', async () => {
    const shop = await dashboard.client('shop');
    const letter = { from: 'a@example.com', subject: 'Hello', text: 'Hi' };
    await shop.end(await shop.send({ ...letter, to: ['ann@example.net', 'bob@example.net'] }));
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByRole('button', { name: 'Change: A quota is nearly used up' }).click();
    await dialog().getByLabel('Threshold').fill('101');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByText('Must be a number from 1 to 100.').waitFor();
    await dialog().getByLabel('Threshold').fill('10');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByText('The rule was changed').waitFor();
    await page.getByRole('tab', { name: 'Alerts', exact: true }).click();
    await page.getByRole('table', { name: 'Alerts now' }).getByText('A quota is nearly used up').click();
    const drawer = page.getByRole('dialog', { name: 'A quota is nearly used up' });
    await drawer.getByText('The relay out has had 2 of the 10 recipients').waitFor();
    await drawer.getByText('was told that it fires').waitFor();
    expect(told.at(-1)).toMatchObject({ type: 'alert.fired', data: { rule: 'quota' } });
    await everybodyCanReadIt();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await everybodyCanReadIt();
  });

  /** In light and wide, and in dark on a phone. */
  const everybodyCanReadIt = async () => {
    expect(await faultsByAxe(page)).toEqual([]);
    await coloured(page, 'dark');
    const size = page.viewportSize() ?? { width: 1280, height: 720 };
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => tooWide(page)).toEqual([]);
    expect(await faultsByAxe(page)).toEqual([]);
    await page.setViewportSize(size);
    await coloured(page, 'light');
  };

  test('are silenced for a while, and over where nothing is watched any more', async () => {
    await page.getByRole('button', { name: 'Silence' }).click();
    await dialog().getByLabel('Which').click();
    await page.getByRole('option', { name: 'Mail is late' }).click();
    await dialog().getByLabel('Why').fill('Moving');
    await dialog().getByRole('button', { name: 'Silence' }).click();
    await page.getByText('Moving', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'End' }).click();
    await page.getByText('Moving', { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByRole('button', { name: 'Change: A quota is nearly used up' }).click();
    await dialog().getByRole('checkbox', { name: 'Watch it' }).click();
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByRole('tab', { name: 'Alerts', exact: true }).click();
    const history = page.getByRole('table', { name: 'History of alerts' });
    await history.getByText('A quota is nearly used up').click();
    await dialog().getByText('was told that it is over').waitFor();
    expect(told.at(-1)).toMatchObject({ type: 'alert.resolved' });
  });
});

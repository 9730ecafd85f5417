import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client, createKey } from '../e2e/service.ts';
import { describeWith } from '../peers/need.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { CAPTURING, Dashboard, NEEDED } from './dashboard.ts';

/** From captured mail to mail that is delivered: a relay, a route, a failure that is seen and mended. */

const LETTER = { from: 'a@example.com', to: ['b@example.net'], subject: 'To be delivered', text: 'Hi.' };

describeWith(NEEDED, 'relays and routes', () => {
  let dashboard: Dashboard;
  let sink: SmtpSink;
  let client: Client;

  beforeAll(async () => {
    sink = await startSmtpSink();
    dashboard = await Dashboard.start(`${CAPTURING}
delivery: { retry_first_seconds: 3600, retry_max_seconds: 3600 }
`);
    await dashboard.claim();
    client = new Client(dashboard.server, await createKey(dashboard.installation, 'app'));
  }, 60_000);
  afterAll(async () => {
    await dashboard.stop();
    await sink.close();
    expect([[...dashboard.strays], dashboard.surprises]).toEqual([[], []]);
  });

  test('a relay is added, tested step by step, and used', async () => {
    const page = await dashboard.signedIn('/relays');
    await page.getByRole('button', { name: 'Add a relay' }).first().click();
    await fillRelay(page, 'out', sink.port);
    await page.getByRole('button', { name: 'Test the connection' }).click();
    await page
      .getByText(/works|ready|reached/i)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Add relay' }).click();
    await page.getByText('The relay out is in use').waitFor();
    const id = await client.send(LETTER);
    expect((await client.end(id)).relay).toBe('out');
    await page.goto(`/messages/${id}`);
    await page.getByText('Delivered').first().waitFor();
  });

  test('a message is sent through a relay alone, and its story told to the end', async () => {
    await dashboard.installation.run(
      'relays',
      'add',
      'alone',
      '--type',
      'smtp',
      '--host',
      '127.0.0.1',
      '--port',
      String(sink.port),
      '--tls',
      'none',
    );
    const page = await dashboard.signedIn('/relays/alone');
    const send = page.getByRole('button', { name: /^Send a/ });
    await send.click();
    await page.getByText('Who is to get it?').waitFor();
    await page.getByLabel('To', { exact: true }).fill('ann@example.net');
    await page.getByLabel('From', { exact: true }).fill('no address');
    await send.click();
    await page.locator('input[aria-invalid=true]:focus').fill('shop@example.com');
    await send.click();
    await page.getByText('Delivered: the next hop took it.').waitFor();
    const told = page.getByRole('list', { name: 'What becomes of it' }).getByRole('listitem');
    expect(await told.allInnerTexts()).toEqual(
      [/Accepted.*As msg_/s, /Attempt.*By alone, to 127/s, /Delivered.*250 2/s].map((text) =>
        expect.stringMatching(text),
      ),
    );
    await page.getByRole('link', { name: 'Show the message' }).click();
    await page.getByRole('heading', { name: 'Test message through alone' }).waitFor();
  });

  test('what is no number is said to be none', async () => {
    const page = await dashboard.signedIn('/relays/out?tab=edit');
    const port = page.getByLabel('Port');
    await port.fill('smtp');
    await page.getByRole('button', { name: 'Review and save' }).click();
    await expect.poll(() => port.getAttribute('aria-invalid')).toBe('true');
    await page.getByText('A whole number is needed.').waitFor();
    expect(await port.inputValue()).toBe('smtp');
  });

  test('a rule is added, rehearsed and published', async () => {
    const page = await dashboard.signedIn('/routes');
    await page.getByRole('button', { name: 'Add rule' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('to-the-inbox');
    await page.getByRole('combobox', { name: 'Add a condition' }).click();
    await page.getByRole('option', { name: 'Tag', exact: true }).click();
    await page.getByRole('combobox', { name: 'Add a relay' }).click();
    await page.getByRole('option', { name: /inbox/ }).click();
    await page.getByRole('button', { name: 'Add to the table' }).click();
    await page.getByText('Give a value, or remove the condition.').waitFor();
    await page.getByRole('textbox', { name: /tag/i }).fill('keep');
    await page.getByRole('button', { name: 'Add to the table' }).click();
    await page
      .getByRole('button', { name: /Rehearse/ })
      .first()
      .click();
    await page.getByText(/would/).first().waitFor();
    await page
      .getByRole('button', { name: /Publish/ })
      .first()
      .click();
    await page
      .getByRole('heading', { name: /Version 4/ })
      .first()
      .waitFor();
    const id = await client.send({ ...LETTER, tags: ['keep'] });
    expect(await client.end(id)).toMatchObject({ relay: 'inbox', outcome: 'captured' });
  });

  test('a failing relay is seen, mended, and delivers', async () => {
    const page = await dashboard.signedIn('/messages');
    // Once the list is there, what comes later is announced, and shown when it is asked for.
    await page.getByRole('row').nth(1).waitFor();
    sink.script = { MAIL: () => '451 4.3.2 Not now' };
    const id = await client.send({ ...LETTER, subject: 'Comes late' });
    await page.getByRole('button', { name: '1 new' }).click();
    await page.getByRole('row', { name: /Comes late.*Retrying/ }).waitFor();
    sink.script = {};
    await page.getByRole('link', { name: 'Comes late' }).click();
    await page.getByText('451 4.3.2 Not now').first().waitFor();
    await page
      .getByRole('button', { name: /Retry|Try/ })
      .first()
      .click();
    await page.getByText('Delivered').first().waitFor();
    expect((await client.end(id)).attempts).toBe(2);
  });

  test('why mail to a domain is late stands on one page, with what becomes of all of it', async () => {
    sink.script = { RCPT: () => '451 4.7.1 Greylisted, come back later' };
    const id = await client.send({ ...LETTER, to: ['c@late.example'], tags: ['news'] });
    const page = await dashboard.signedIn(`/messages/${id}`);
    await page.getByRole('link', { name: 'Why mail to late.example is late' }).click();
    const waiting = page.locator('section', { hasText: 'Waiting for late.example' });
    await waiting.getByText('1 waiting').waitFor();
    await waiting.getByText('451 4.7.1 Greylisted, come back later').waitFor();
    await waiting.getByText(/^in (\d+ min|1 h)$/).waitFor();
    await page.getByRole('row', { name: /^out/ }).getByRole('link').click();
    await page.waitForURL(/relay=out/);
    await page.getByText('1 deferred').waitFor();
    await page.getByRole('button', { name: 'Remove Recipient domain' }).click();
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    await page.getByRole('row', { name: /news/ }).waitFor();
    await page.getByRole('textbox', { name: 'Recipient domain' }).fill('someone@quiet.example');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing waits for it').waitFor();
    sink.script = {};
  });

  test('the Overview tells how well mail goes, and a bar of its chart opens what was accepted then', async () => {
    const page = await dashboard.signedIn('/');
    await page.getByText(/^(50|67|75|80|100) %$/).waitFor();
    const chart = page.locator('.u-over').first();
    const { width, height } = (await chart.boundingBox()) ?? { width: 0, height: 0 };
    const position = { x: (width * 23.5) / 24, y: height / 2 };
    await chart.hover({ position });
    await page.getByText('Opens what was accepted then').waitFor();
    await chart.click({ position });
    await page.waitForURL(/\/messages\?q=after:/);
    await page.getByRole('link', { name: 'To be delivered' }).first().waitFor();
  });

  test('what was begun as another message and left as it is closes without a question', async () => {
    await dashboard.installation.run('queue', 'pause', 'out');
    const page = await dashboard.signedIn(`/messages/${await client.send(LETTER)}`);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Edit and send again' }).click();
    await page.getByRole('dialog').getByLabel('From').waitFor();
    await dashboard.installation.run('queue', 'resume', 'out');
    await page
      .getByText(/^Delivered$/)
      .first()
      .waitFor({ state: 'attached' });
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });

  test('attempts that cannot be fetched are told of', async () => {
    const page = await dashboard.signedIn('/messages');
    await page.route('**/api/call/messageStory', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), moreAttempts: true } });
    });
    const json = { title: 'Unavailable', status: 500, detail: 'The attempts are in a drawer.' };
    await page.route('**/api/call/attempts', (route) => route.fulfill({ status: 500, json }));
    await page.goto(`/messages/${await client.send(LETTER)}`);
    await page.getByRole('button', { name: 'Show more attempts' }).click();
    await page.getByText(json.detail).first().waitFor();
  });

  test('a secret that was stored does not stay in its form', async () => {
    const page = await dashboard.signedIn('/relays?add=postmark');
    await page.locator('input[type=password]').first().fill('the-first-token');
    await page.getByRole('button', { name: 'Add relay' }).click();
    await page.getByText('The relay postmark is in use').waitFor();
    await page.goto('/relays/postmark?tab=edit');
    await page.locator('input[type=password]').first().fill('the-second-token');
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByText('postmark was changed').waitFor();
    await expect.poll(() => page.locator('input[type=password]').first().inputValue()).toBe('');
    expect(await page.getByRole('button', { name: 'Review and save' }).isDisabled()).toBe(true);
  });
});

async function fillRelay(page: Page, name: string, port: number): Promise<void> {
  await page.getByRole('button', { name: /Smarthost/ }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
  await page.getByRole('textbox', { name: 'Host' }).fill('127.0.0.1');
  await page.getByLabel('Port').fill(String(port));
  await page.getByRole('combobox', { name: 'TLS' }).click();
  await page.getByRole('option', { name: 'none' }).click();
}

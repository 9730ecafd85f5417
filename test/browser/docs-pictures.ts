/**
 * The pictures of the documentation's pages: `npm run pictures`. A template as it is edited, the checks of a captured message, an
 * endpoint of webhooks that failed and recovered, and an alert that fired and is over, which takes two minutes.
 */
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { freePort } from '../peers/free-port.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import { endReceivers, receiver } from '../peers/webhook-receiver.ts';
import { CAPTURING, Dashboard, endBrowsers } from './dashboard.ts';
import { settled } from './looks.ts';
import { populate } from './populated.ts';

const WIDE = { width: 1440, height: 900 };
const HIGH = { width: 1440, height: 1060 };
/** For an alert to be over it takes a minute, two looks of the server, and the tries of the relay. */
const OVER = { timeout: 300_000 };

const LETTER = { from: 'Example Shop <orders@example.com>', to: ['ann@example.net'], text: 'Thank you.' };
const ORDERS = 7;

try {
  await takeEditing();
  await takeWebhook();
  await takeAlert();
} finally {
  await endReceivers();
  await endBrowsers();
}

async function take(page: Page, name: string): Promise<void> {
  await settled(page);
  const path = fileURLToPath(new URL(`../../docs/images/${name}.png`, import.meta.url));
  await page.screenshot({ path });
  process.stdout.write(`${path}\n`);
}

/** A template with a change that is not saved, and the checks of a captured message. */
async function takeEditing(): Promise<void> {
  const { dashboard, things, stop } = await populate();
  try {
    const template = await dashboard.signedIn(`/templates/${things.template}`, HIGH);
    const code = template.getByRole('textbox', { name: 'HTML', exact: true });
    const html = await code.inputValue();
    const picture = '<img src="http://shop.example.com/box.png" width="120" height="24">';
    await code.fill(html.replace(/^( *)(<p [^>]*>Hello)/m, `$1${picture}\n$1$2`));
    await template.getByText('Changed since version 3.').waitFor();
    await template.getByText('A picture (http://shop.example.com/box.png) has no alt').waitFor();
    await take(template, 'templates');
    const inbox = await dashboard.signedIn(`/inbox/${things.faulty}?view=checks`, HIGH);
    await inbox.getByText('A link begins with javascript:').waitFor();
    await take(inbox, 'checks');
  } finally {
    await stop();
  }
}

/** An endpoint whose program was broken while orders came in, and which was told of all of them again. */
async function takeWebhook(): Promise<void> {
  let answer = 503;
  const hook = await receiver((_request, response) => response.writeHead(answer).end());
  const url = new URL('/waybill', hook).href;
  const dashboard = await Dashboard.start(`${CAPTURING}
delivery: { default_relay: inbox }
webhooks: { private_urls: ["${url}"] }
`);
  try {
    await dashboard.claim();
    const { installation } = dashboard;
    const about = ['--description', 'The shop’s order service', '--json'];
    const added = await installation.run('webhooks', 'add', url, ...about);
    const { id }: { readonly id: string } = JSON.parse(added.stdout).webhook;
    const shop = await dashboard.client('shop');
    for (let order = 1; order <= ORDERS; order++)
      await shop.end(await shop.send({ ...LETTER, subject: `Order ${order}` }));
    const page = await dashboard.signedIn(`/webhooks/${id}`, WIDE);
    const tries = page.getByText('503', { exact: true });
    await tries.first().waitFor();
    answer = 200;
    await installation.run('webhooks', 'replay', id, '--since', '2026-01-01T00:00:00Z', '--only', 'all');
    await page.getByText('Nothing is pending.').waitFor();
    await tries.first().waitFor({ state: 'detached' });
    await take(page, 'webhook-deliveries');
  } finally {
    await dashboard.stop();
  }
}

/** A smarthost that could not be reached for a while. */
async function takeAlert(): Promise<void> {
  const port = await freePort();
  const told = await receiver((_request, response) => response.end());
  const dashboard = await Dashboard.start(`${CAPTURING}
delivery: { default_relay: smarthost, retry_first_seconds: 5, retry_max_seconds: 5 }
webhooks: { private_urls: ["${told}"] }
relays:
  - { name: smarthost, type: smtp, host: 127.0.0.1, port: ${port}, tls: none }
`);
  try {
    await dashboard.claim();
    const { installation } = dashboard;
    await installation.run('alerts', 'add', 'ops', 'webhook', '--url', told);
    await installation.run('alerts', 'set', 'relay_resting', '--for', '0');
    const shop = await dashboard.client('shop');
    for (let order = 1; order <= ORDERS; order++) await shop.send({ ...LETTER, subject: `Order ${order}` });
    const page = await dashboard.signedIn('/alerts', WIDE);
    await page.getByRole('table', { name: 'Alerts now' }).getByText('A relay fails').waitFor(OVER);
    const sink = await startSmtpSink({ port });
    try {
      await page.getByRole('heading', { name: 'Nothing is wrong' }).waitFor(OVER);
      await page.getByText('A relay fails').click();
      await page.getByText('ops was told that it is over').waitFor(OVER);
      await take(page, 'alert');
    } finally {
      await sink.close();
    }
  } finally {
    await dashboard.stop();
  }
}

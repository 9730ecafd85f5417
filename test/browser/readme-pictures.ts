/**
 * The pictures of the README: `npm run pictures`. The overview while mail flows in, as a picture that moves and as one that does not,
 * and the overview as it stands then. Both show a server that delivers to a real next hop.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Locator, Page, PageScreenshotOptions } from 'playwright-core';
import type { Client } from '../e2e/service.ts';
import { animated, type Frame } from './animated-png.ts';
import { endBrowsers } from './dashboard.ts';
import { settled } from './looks.ts';
import { populate } from './populated.ts';

const IMAGES = new URL('../../docs/images/', import.meta.url);
const LIVE = { width: 1280, height: 720 };
const WHOLE = { width: 1440, height: 1100 };

/** For how long each frame is seen, and the last one. */
const FRAME_MS = 1_000;
const LAST_MS = 2_500;
/** From rows that came to what became of them. */
const SETTLE_MS = 700;
/** Below the last thing that is shown. */
const MARGIN = 16;

/** What comes in, a list for each frame. */
const MAIL = [
  [['Your parcel is on its way', 'gina@example.net']],
  [
    ['Invoice 2231', 'billing@example.org'],
    ['Sign in from a new device', 'bob@example.net'],
  ],
  [
    ['Your seat is reserved', 'carla@example.org'],
    ['Receipt for order 4417', 'nobody@example.org'],
    ['Three things on your list', 'later@example.net'],
  ],
  [
    ['Welcome aboard', 'henry@example.net'],
    ['Your weekly summary', 'farid@example.org'],
  ],
  [['Order 4418 is confirmed', 'dmitri@example.net']],
] as const;

const { dashboard, stop } = await populate();
try {
  const page = await dashboard.signedIn('/?live=1', LIVE);
  const frames = await flow(page, await dashboard.client('web-shop'));
  writeFileSync(new URL('live.png', IMAGES), animated(frames));
  writeFileSync(new URL('live-still.png', IMAGES), animated(frames.slice(-1)));
  const whole = await dashboard.signedIn('/', WHOLE);
  await whole.getByRole('heading', { name: 'Outcomes' }).waitFor();
  await settled(whole);
  await whole.screenshot({ path: fileURLToPath(new URL('dashboard.png', IMAGES)) });
} finally {
  await stop();
  await endBrowsers();
}

/** Takes a frame of what is there, and one each time when mail has come in. */
async function flow(page: Page, shop: Client): Promise<readonly Frame[]> {
  const list = page.getByRole('heading', { name: 'Newest messages' }).locator('xpath=ancestor::section[1]');
  await list.getByRole('listitem').first().waitFor();
  await settled(page);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  const clip = await live(page, list);
  const frames: Frame[] = [{ png: await page.screenshot({ clip }), ms: FRAME_MS }];
  for (const [place, mail] of MAIL.entries()) {
    for (const [subject, to] of mail)
      await shop.send({ from: 'Example Shop <orders@example.com>', to: [to], subject, text: subject });
    for (const [subject] of mail) await list.getByText(subject).waitFor();
    await page.waitForTimeout(SETTLE_MS);
    frames.push({
      png: await page.screenshot({ clip }),
      ms: place === MAIL.length - 1 ? LAST_MS : FRAME_MS,
    });
  }
  return frames;
}

/** Where live mode is: from the page's heading to the end of the newest messages. */
async function live(page: Page, list: Locator): Promise<NonNullable<PageScreenshotOptions['clip']>> {
  const box = await list.boundingBox();
  const whole = await page.getByRole('main').boundingBox();
  if (box === null || whole === null) throw new Error('live mode is not there');
  return { x: whole.x, y: 0, width: whole.width, height: Math.ceil(box.y + box.height) + MARGIN };
}

import type { Page } from 'playwright-core';
import { Dashboard, NEEDED } from '../../test/browser/dashboard.ts';
import { Client, createKey } from '../../test/e2e/service.ts';
import { locate } from '../../test/peers/need.ts';
import type { Sample, Scenario } from './scenario.ts';

const MESSAGES = 10_000;
const BATCH = 500;
/** Every page is loaded so often, with nothing kept from before. */
const ROUNDS = 5;
const SCROLL_MS = 4_000;
/** A sixtieth of a second, and as much again as timers are off by. */
const FRAME_MS = 1000 / 60 + 2;

/** Pages, and what is there once they can be used. */
const PAGES = [
  ['/', 'main h1'],
  ['/messages', '[data-row]'],
  ['/queue', 'main h1'],
  ['/relays', 'main h1'],
  ['/settings/api-keys', 'main h1'],
] as const;

/** How soon a page can be used, loaded for the first time, and how smoothly a long table scrolls. */
export const dashboardPage: Scenario = {
  name: 'dashboard-page',
  shows:
    'the dashboard in a browser, with 10,000 messages: until a page can be used, and frames while it scrolls',
  sides: [
    {
      name: 'dashboard',
      missing: () => (NEEDED.every((program) => locate(program) !== null) ? null : 'needs chromium'),
      run: () => lookAtPages(),
    },
  ],
  mostPairs: 1,
  targets: [
    { metric: 'interactiveMs', of: 'value', atMost: 1000 },
    { metric: 'framesInTime', of: 'value', atLeast: 0.98 },
  ],
};

async function lookAtPages(): Promise<Sample> {
  const dashboard = await Dashboard.start();
  try {
    await dashboard.claim();
    await fill(dashboard);
    const medians: number[] = [];
    for (const [path, sign] of PAGES) {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) times.push(await timeToUse(dashboard, path, sign));
      times.sort((a, b) => a - b);
      medians.push(times[ROUNDS >> 1] ?? Number.NaN);
    }
    return { interactiveMs: Math.max(...medians), framesInTime: await framesInTime(dashboard) };
  } finally {
    await dashboard.stop();
  }
}

async function fill(dashboard: Dashboard): Promise<void> {
  const client = new Client(dashboard.server, await createKey(dashboard.installation, 'load'));
  for (let sent = 0; sent < MESSAGES; sent += BATCH) {
    const messages = Array.from({ length: BATCH }, (_, place) => ({
      from: 'load@example.com',
      to: [`reader${sent + place}@example.net`],
      subject: `Letter number ${sent + place}`,
      text: 'Hi.',
    }));
    const answer = await fetch(`${client.messages}/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages }),
    });
    if (answer.status !== 202) throw new Error(`the batch was answered by ${answer.status}`);
  }
}

/** From the first request in a fresh window until the page's own content is there. */
async function timeToUse(dashboard: Dashboard, path: string, sign: string): Promise<number> {
  const page = await dashboard.signedIn('/livez');
  await page.goto(path, { waitUntil: 'commit' });
  await page.locator(sign).first().waitFor();
  const elapsed = Number(await page.evaluate('performance.now()'));
  await page.context().close();
  return elapsed;
}

/** The share of frames that came in time while the list of messages was scrolled as by a wheel that turns. */
async function framesInTime(dashboard: Dashboard): Promise<number> {
  const page: Page = await dashboard.signedIn('/messages');
  await page.locator('[data-row]').first().waitFor();
  const counted = await page.evaluate(`new Promise((end) => {
    const started = performance.now();
    let last = started, all = 0, late = 0;
    const look = (now) => {
      all++;
      if (now - last > ${FRAME_MS}) late += Math.round((now - last) / (1000 / 60)) - 1;
      last = now;
      window.scrollBy(0, 40);
      if (now - started < ${SCROLL_MS}) requestAnimationFrame(look);
      else end([all, late]);
    };
    requestAnimationFrame(look);
  })`);
  const [all = 0, late = 0] = counted as number[];
  return all / (all + late);
}

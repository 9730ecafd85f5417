/**
 * Pictures of every page in light and in dark, wide and on a phone, to be looked at: `npm run screenshots -- FOLDER`, or
 * only of the pages named after it.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { endBrowsers } from './dashboard.ts';
import { visit } from './looks.ts';
import { pagesOf } from './pages.ts';
import { populate } from './populated.ts';

const LOOKS = {
  light: { width: 1440, height: 900, colorScheme: 'light' },
  dark: { width: 1440, height: 900, colorScheme: 'dark' },
  phone: { width: 390, height: 844, colorScheme: 'light' },
  'phone-dark': { width: 390, height: 844, colorScheme: 'dark' },
} as const;

const [folder = 'screenshots', ...only] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const { dashboard, things, stop } = await populate();
try {
  const pages = pagesOf(things).filter(({ name }) => only.length === 0 || only.includes(name));
  for (const [name, look] of Object.entries(LOOKS)) {
    const window = await dashboard.signedIn('/', look);
    for (const page of pages) {
      await visit(window, page);
      await window.screenshot({ path: join(folder, `${page.name}-${name}.png`), fullPage: true });
    }
    await window.context().close();
    process.stdout.write(`${pages.length} pages, ${name}\n`);
  }
} finally {
  await stop();
  await endBrowsers();
}

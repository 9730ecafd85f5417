import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { NEEDED } from './dashboard.ts';
import { tooWide, visit } from './looks.ts';
import { pagesOf } from './pages.ts';
import { type Populated, populate } from './populated.ts';

/** Every page can be read by everybody: contrast, names and roles by axe; a phone's width; in light and in dark. */

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const NOTHING = {
  delivered: '',
  failed: '',
  captured: '',
  faulty: '',
  template: '',
  bounced: '',
  suppressed: '',
  webhook: '',
};
const NAMES = pagesOf(NOTHING).map(({ name }) => name);

/** A finding of axe. */
interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

describeWith(NEEDED, 'every page', () => {
  let populated: Populated;
  let wide: Page;
  let phone: Page;

  beforeAll(async () => {
    populated = await populate();
    wide = await populated.dashboard.signedIn('/');
    phone = await populated.dashboard.signedIn('/', { width: 390, height: 844, colorScheme: 'dark' });
  }, 120_000);
  afterAll(async () => {
    const { strays, surprises } = populated.dashboard;
    await populated.stop();
    expect([[...strays], surprises]).toEqual([[], []]);
  });

  const pageCalled = (name: string) => {
    const found = pagesOf(populated.things).find((page) => page.name === name);
    if (found === undefined) throw new Error(`no page is called ${name}`);
    return found;
  };

  test.each(NAMES)('%s has no serious finding of axe, in light', async (name) => {
    await visit(wide, pageCalled(name));
    expect(await findings(wide)).toEqual([]);
  });

  test.each(NAMES)('%s has none in dark either, and fits a phone', async (name) => {
    await visit(phone, pageCalled(name));
    await expect.poll(() => tooWide(phone)).toEqual([]);
    expect(await findings(phone)).toEqual([]);
  });
});

/** Runs axe outside of the page's own world, whose policy would refuse it. */
async function findings(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const { frameTree } = await session.send('Page.getFrameTree');
    const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
      frameId: frameTree.frame.id,
    });
    await session.send('Runtime.evaluate', { contextId, expression: AXE });
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      contextId,
      expression: `axe.run(document, { iframes: false, resultTypes: ['violations'] }).then(({ violations }) => violations)`,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    const violations: readonly Violation[] = result.value;
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
      );
  } finally {
    await session.detach();
  }
}

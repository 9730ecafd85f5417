import { Store, useStored } from './store.ts';

/** The themes to choose from; `system` follows the machine. `public/first.js` applies it before the first paint. */
export type Theme = 'system' | 'light' | 'dark';

const STORED = 'waybill.theme';
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const chosen = new Store<Theme>(read());
const isDark = new Store(chosen.get() === 'system' ? dark.matches : chosen.get() === 'dark');

dark.addEventListener('change', () => apply(chosen.get()));
window.addEventListener('storage', ({ key }) => {
  if (key === STORED) apply(read());
});

function read(): Theme {
  try {
    const stored = localStorage.getItem(STORED);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    return 'system';
  }
}

function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  chosen.put(theme);
  isDark.put(theme === 'system' ? dark.matches : theme === 'dark');
}

/** Chooses a theme for this browser, in all its tabs. */
export function setTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, theme);
  } catch {
    // Without storage it holds for this page.
  }
  apply(theme);
}

/** The theme that was chosen. */
export function useTheme(): Theme {
  return useStored(chosen);
}

/** Whether it is dark now: for canvases, which cannot follow style sheets. */
export function useIsDark(): boolean {
  return useStored(isDark);
}

/** A colour of the style sheet as a canvas takes it. */
export function tokenColor(token: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${token})`;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

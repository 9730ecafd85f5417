import { expect, it } from 'vitest';
import { webAddress } from './reading-pane.tsx';

it('opens addresses of the web', () => {
  expect(webAddress('https://example.com/confirm?code=1')).toBe('https://example.com/confirm?code=1');
  expect(webAddress('http://example.com')).toBe('http://example.com/');
});

it('opens nothing else', () => {
  const others = ['javascript:alert(1)', ' java\nscript:alert(1)', 'data:text/html,x', 'file:///etc/passwd'];
  for (const text of [...others, 'blob:https://example.com/1', '//example.com', 'confirm', ''])
    expect(webAddress(text)).toBeNull();
});

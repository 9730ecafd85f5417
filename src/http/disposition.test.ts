import { expect, test } from 'vitest';
import { attachmentHeader } from './disposition.ts';

test.each([
  ['invoice.pdf', 'attachment; filename="invoice.pdf"'],
  ['Grüße.txt', `attachment; filename="Gr__e.txt"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.txt`],
  ["it's (1)*.txt", `attachment; filename="it's (1)_.txt"`],
  ["ü'()!.txt", `attachment; filename="_'()!.txt"; filename*=UTF-8''%C3%BC%27%28%29!.txt`],
  ['50%.txt', `attachment; filename="50_.txt"; filename*=UTF-8''50%25.txt`],
  ['../../etc/passwd', 'attachment; filename="passwd"'],
  ['C:\\Windows\\system.ini', 'attachment; filename="system.ini"'],
  ['a"; filename="b.exe', 'attachment; filename="a_; filename=_b.exe"'],
  ['a\r\nSet-Cookie: x=1', 'attachment; filename="aSet-Cookie_ x=1"'],
  ['a\0.txt', 'attachment; filename="a.txt"'],
  // Shown from right to left, its ending would look like another.
  ['photo\u202egpj.exe', 'attachment; filename="photogpj.exe"'],
  ['...', 'attachment; filename="file"'],
  ['', 'attachment; filename="file"'],
  ['.bashrc', 'attachment; filename="bashrc"'],
  ['name. ', 'attachment; filename="name"'],
  ['CON.txt', 'attachment; filename="_CON.txt"'],
  ['\ud800.txt', `attachment; filename="_.txt"; filename*=UTF-8''%EF%BF%BD.txt`],
])('%j is offered as %s', (name, header) => {
  expect(attachmentHeader(name, 'file')).toBe(header);
});

test('a long name is cut, and keeps its ending', () => {
  const header = attachmentHeader(`${'x'.repeat(5000)}.pdf`, 'file');
  expect(header).toBe(`attachment; filename="${'x'.repeat(146)}.pdf"`);
  expect(attachmentHeader(`${'x'.repeat(148)}. ${'y'.repeat(20)}`, 'file')).toBe(
    `attachment; filename="${'x'.repeat(148)}"`,
  );
});

test('a name costs no more for the dots and blanks in it than for letters', () => {
  const before = process.threadCpuUsage().user;
  expect(attachmentHeader(`a${' .'.repeat(30_000)}b`, 'file')).toMatch(/^attachment; filename="a/);
  expect((process.threadCpuUsage().user - before) / 1000).toBeLessThan(1000);
});

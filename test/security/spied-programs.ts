/** The programs that a server runs, in the place of which others tell what they are given. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import type { Installation } from '../peers/server.ts';

/** Every program that the server starts: `test/security/list.test.ts` holds that there is no other. */
export const PROGRAMS = ['systemd-notify', 'timedatectl'];

/** Has them tell their arguments and their environment: in the file that is returned. */
export function spyOnPrograms(
  { environment }: Installation,
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
): string {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-programs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'told');
  writeFileSync(file, '');
  for (const program of PROGRAMS)
    writeFileSync(join(folder, program), `#!/bin/sh\n{ echo "$0 $*"; env; } >> ${file}\necho yes\n`, {
      mode: 0o755,
    });
  // Else nobody is told.
  environment['NOTIFY_SOCKET'] = join(folder, 'nobody-listens');
  environment['PATH'] = `${folder}:${environment['PATH'] ?? ''}`;
  return file;
}

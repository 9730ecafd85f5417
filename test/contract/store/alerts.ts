import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { alert, alertChannel, alertSilence } from '../../support/alerts.ts';
import { HOUR, type OpenSubject, type Subject, T0 } from './fixtures.ts';

/** Alerts, and what operators decided about them. */
export function alertContract(open: OpenSubject): void {
  describe('alerts', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    it('have rules that are changed and are as declared again, over a restart', async () => {
      await subject.alerts.setAlertRule('disk', { enabled: false });
      await subject.alerts.setAlertRule('quota', { threshold: 50 });
      await subject.alerts.setAlertRule('quota', { threshold: 60, severity: 'critical' });
      subject = await subject.reopen();
      const { rules } = await subject.alerts.alertSettings();
      expect([...rules].sort()).toEqual([
        ['disk', { enabled: false }],
        ['quota', { threshold: 60, severity: 'critical' }],
      ]);
      await subject.alerts.setAlertRule('disk', {});
      expect([...(await subject.alerts.alertSettings()).rules.keys()]).toEqual(['quota']);
    });

    it('have channels, each with a name of its own, and no more than allowed', async () => {
      const [ops, night] = [alertChannel(), alertChannel({ name: 'night', to: ['ann@example.com'] })];
      const { alerts } = subject;
      expect(await alerts.addAlertChannel({ channel: ops, secret: 'sealed' }, 2)).toBe('added');
      expect(await alerts.addAlertChannel({ channel: alertChannel(), secret: null }, 2)).toBe('name_taken');
      expect(await alerts.addAlertChannel({ channel: night, secret: null }, 2)).toBe('added');
      const third = alertChannel({ name: 'third' });
      expect(await alerts.addAlertChannel({ channel: third, secret: null }, 2)).toBe('too_many');
      expect((await alerts.alertSettings()).channels).toEqual([
        { channel: ops, secret: 'sealed' },
        { channel: night, secret: null },
      ]);
      const renamed = { ...ops, name: 'day', enabled: false };
      expect(await alerts.changeAlertChannel(renamed, null)).toBe('changed');
      expect(await alerts.changeAlertChannel({ ...night, name: 'day' }, null)).toBe('name_taken');
      expect(await alerts.changeAlertChannel(third, null)).toBe('no_channel');
      expect(await alerts.changeAlertChannel(night, 'other')).toBe('changed');
      expect((await alerts.alertSettings()).channels).toEqual([
        { channel: renamed, secret: 'sealed' },
        { channel: night, secret: 'other' },
      ]);
      expect(await alerts.removeAlertChannel(ops.id)).toBe(true);
      expect(await alerts.removeAlertChannel(ops.id)).toBe(false);
    });

    it('have silences, which are forgotten once they have ended', async () => {
      const { alerts } = subject;
      const short = alertSilence({ until: T0 + 1 });
      const long = alertSilence({ rule: 'disk', subject: 'node:a' });
      expect(await alerts.addAlertSilence(long, 2, T0)).toBe(true);
      expect(await alerts.addAlertSilence(short, 2, T0)).toBe(true);
      expect(await alerts.addAlertSilence(alertSilence(), 2, T0)).toBe(false);
      expect((await alerts.alertSettings()).silences).toEqual([short, long]);
      const later = alertSilence();
      expect(await alerts.addAlertSilence(later, 2, T0 + 1)).toBe(true);
      expect((await alerts.alertSettings()).silences).toEqual([long, later]);
      expect(await alerts.removeAlertSilence(long.id)).toBe(true);
      expect(await alerts.removeAlertSilence(long.id)).toBe(false);
    });

    it('are found again while they are not over, or somebody is to be told', async () => {
      const firing = alert();
      const pending = alert({ subject: 'relay:b', state: 'pending', firedAt: null });
      const over = { state: 'resolved', resolvedAt: T0 + HOUR } as const;
      const notice = {
        channel: 'x',
        kind: 'resolved',
        state: 'pending',
        tries: 0,
        at: T0,
        error: null,
      } as const;
      const owed = alert({ ...over, notices: [notice] });
      const ended = alert({ ...over, notices: [{ ...notice, state: 'sent' }] });
      await subject.alerts.writeAlerts([firing, pending, owed, ended], []);
      subject = await subject.reopen();
      expect(await subject.alerts.openAlerts(T0 + HOUR)).toEqual([firing, pending, owed]);
      expect(await subject.alerts.openAlerts(T0)).toEqual([firing, pending, owed, ended]);
      const changed = { ...firing, text: 'Still.', ...over };
      await subject.alerts.writeAlerts([changed], [pending.id]);
      expect(await subject.alerts.openAlerts(T0)).toEqual([changed, owed, ended]);
    });

    it('are listed in pages, the newest first, once they have fired', async () => {
      const all = [alert(), alert(), alert({ state: 'resolved', resolvedAt: T0 })];
      await subject.alerts.writeAlerts([...all, alert({ state: 'pending', firedAt: null })], []);
      const [first, second, third] = all;
      const page = await subject.alerts.alertHistory({ which: 'fired', before: null, limit: 2 });
      expect(page).toEqual({ alerts: [third, second], next: second?.id });
      expect(await subject.alerts.alertHistory({ which: 'fired', before: page.next, limit: 2 })).toEqual({
        alerts: [first],
        next: null,
      });
      const { alerts } = await subject.alerts.alertHistory({ which: 'open', before: null, limit: 9 });
      expect(alerts.map(({ state }) => state)).toEqual(['pending', 'firing', 'firing']);
    });

    it('are forgotten when they ended long ago, or are too many', async () => {
      const ended = [1, 2, 3, 4, 5].map((hour) => alert({ state: 'resolved', resolvedAt: T0 + hour * HOUR }));
      const firing = alert();
      await subject.alerts.writeAlerts([...ended, firing], []);
      const left = async () => (await subject.alerts.openAlerts(0)).map(({ id }) => id);
      expect(await subject.alerts.forgetAlerts(T0 + 3 * HOUR, 9, 1)).toBe(1);
      expect(await subject.alerts.forgetAlerts(T0 + 3 * HOUR, 9, 9)).toBe(1);
      expect(await left()).toEqual([...ended.slice(2), firing].map(({ id }) => id));
      expect(await subject.alerts.forgetAlerts(T0, 1, 9)).toBe(2);
      expect(await left()).toEqual([ended.at(-1)?.id, firing.id]);
    });
  });
}

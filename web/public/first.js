// Before the page itself.
(() => {
  // The theme that this browser chose, so that no wrong one flashes up.
  try {
    const theme = localStorage.getItem('waybill.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // Without storage the system's theme holds.
  }

  // When the machine's network changes, browsers give up what they have asked for. A page without its styles, or without
  // its code, cannot be used; asking once more is enough.
  const AGAIN = 'waybill.again';
  const again = new WeakSet();
  const PAUSE_MS = 10_000;
  addEventListener(
    'error',
    ({ target }) => {
      if (target instanceof HTMLLinkElement && target.rel === 'stylesheet' && !again.has(target)) {
        const link = target.cloneNode();
        again.add(link);
        target.replaceWith(link);
      } else if (target instanceof HTMLScriptElement) reload();
    },
    true,
  );

  function reload() {
    try {
      if (Date.now() - Number(sessionStorage.getItem(AGAIN)) < PAUSE_MS) return;
      sessionStorage.setItem(AGAIN, String(Date.now()));
      location.reload();
    } catch {
      // Without storage nothing tells that it was tried.
    }
  }
})();

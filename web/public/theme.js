// Before the first paint: the theme that this browser chose, so that no wrong one flashes up.
(() => {
  try {
    const theme = localStorage.getItem('waybill.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // Without storage the system's theme holds.
  }
})();

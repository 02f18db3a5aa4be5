// Sets the theme before the first paint; a file of its own, because the content security policy allows no inline script.
;(function () {
  var kept = null
  try {
    kept = localStorage.getItem('copydesk:theme')
  } catch (_) {
    // Storage may be switched off; the system's theme will do.
  }
  if (kept === 'light' || kept === 'dark') document.documentElement.dataset.theme = kept
})()

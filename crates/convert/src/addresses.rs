//! Addresses that are safe to follow.

/// Schemes of addresses that may be linked.
const SCHEMES: [&str; 5] = ["http", "https", "mailto", "tel", "ftp"];

/// Returns an address if it is safe to follow from a document that others wrote. Addresses without
/// a scheme would lead into the folder of the file, so they are not.
pub fn safe_url(address: &str) -> Option<String> {
    let address: String = address.trim().chars().filter(|c| !c.is_control()).collect();
    let (scheme, _) = address.split_once(':')?;
    SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()).then_some(address)
}

/// Returns whether an address is one of the web.
pub fn is_web(url: &str) -> bool {
    let scheme = url.split(':').next().unwrap_or_default();
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

use super::*;
use crate::seam::{SchedulerView, WarpId};

struct Any;

impl IssueScheduler for Any {
    fn priority_order(&self, view: &SchedulerView<'_>, order: &mut Vec<WarpId>) {
        order.extend(view.warps.iter());
    }
}

const INFO: MechanismInfo =
    MechanismInfo { seam: Seam::Issue, name: "any", summary: "any order", source: "", counters: &[], refuses: &[] };

#[test]
fn mechanisms_say_who_added_them() {
    let mut registry = Registry::new();
    registry.issue(INFO, |(): (), _| Any);
    registry.mark_built_in();
    registry.issue(MechanismInfo { name: "other", ..INFO }, |(): (), _| Any);
    registry.set_origin("mine 2");
    registry.issue(MechanismInfo { name: "mine", ..INFO }, |(): (), _| Any);
    let origins: Vec<_> = registry.iter().map(|m| m.origin.as_deref()).collect();
    assert_eq!(origins, [None, Some("outside"), Some("mine 2")]);
}

#[test]
#[should_panic(expected = "the seam `issue` already has a mechanism `any`, from Raddle: give yours another name")]
fn a_name_is_given_once() {
    let mut registry = Registry::new();
    registry.issue(INFO, |(): (), _| Any);
    registry.mark_built_in();
    registry.issue(INFO, |(): (), _| Any);
}

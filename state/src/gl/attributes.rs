//! glPopAttrib: the capabilities that it restores. A capability belongs to GL_ENABLE_BIT and to the group of its stage.

use gapii_commands::constants::*;

use crate::{Memory, Thread, Whole};

/// Restores the capabilities of the groups that the topmost entry of the stack was pushed for.
pub fn restore_capabilities<M: Memory + ?Sized>(thread: &mut Thread<Whole>, _memory: &M) {
    let Some(context) = thread.context.as_deref_mut() else { return };
    let top = context.attribute_depth.checked_sub(1);
    let Some(top) = top.map(|top| top as usize) else { return };
    let saved = (context.kept_attributes.get(top), context.attributes.get(top));
    let (Some(kept), Some(saved)) = saved else { return };
    let is_restored = |capability: &u32| groups_of(*capability) & kept.mask != 0;
    context.capabilities.retain(|capability, _| !is_restored(capability));
    let restored = saved.capabilities.iter().filter(|(capability, _)| is_restored(capability));
    context.capabilities.extend(restored.map(|(capability, enabled)| (*capability, *enabled)));
}

/// Returns the groups of attributes that a capability belongs to (OpenGL 4.6 compatibility profile, tables 23.5 to 23.38).
fn groups_of(capability: u32) -> u32 {
    let group = match capability {
        GL_LIGHTING | GL_COLOR_MATERIAL | GL_LIGHT0..=GL_LIGHT7 => GL_LIGHTING_BIT,
        GL_FOG | GL_COLOR_SUM => GL_FOG_BIT,
        GL_ALPHA_TEST | GL_BLEND | GL_DITHER | GL_COLOR_LOGIC_OP | GL_INDEX_LOGIC_OP
        | GL_FRAMEBUFFER_SRGB => GL_COLOR_BUFFER_BIT,
        GL_DEPTH_TEST => GL_DEPTH_BUFFER_BIT,
        GL_AUTO_NORMAL
        | GL_MAP1_COLOR_4..=GL_MAP1_VERTEX_4
        | GL_MAP2_COLOR_4..=GL_MAP2_VERTEX_4 => GL_EVAL_BIT,
        GL_LINE_SMOOTH | GL_LINE_STIPPLE => GL_LINE_BIT,
        GL_MULTISAMPLE
        | GL_SAMPLE_ALPHA_TO_COVERAGE
        | GL_SAMPLE_ALPHA_TO_ONE
        | GL_SAMPLE_COVERAGE
        | GL_SAMPLE_MASK
        | GL_SAMPLE_SHADING => GL_MULTISAMPLE_BIT,
        GL_POINT_SMOOTH | GL_POINT_SPRITE => GL_POINT_BIT,
        GL_CULL_FACE
        | GL_POLYGON_SMOOTH
        | GL_POLYGON_STIPPLE
        | GL_POLYGON_OFFSET_FILL
        | GL_POLYGON_OFFSET_LINE
        | GL_POLYGON_OFFSET_POINT => GL_POLYGON_BIT,
        GL_SCISSOR_TEST => GL_SCISSOR_BIT,
        GL_STENCIL_TEST => GL_STENCIL_BUFFER_BIT,
        GL_TEXTURE_1D
        | GL_TEXTURE_2D
        | GL_TEXTURE_3D
        | GL_TEXTURE_CUBE_MAP
        | GL_TEXTURE_RECTANGLE
        | GL_TEXTURE_GEN_S
        | GL_TEXTURE_GEN_T
        | GL_TEXTURE_GEN_R
        | GL_TEXTURE_GEN_Q
        | GL_TEXTURE_CUBE_MAP_SEAMLESS => GL_TEXTURE_BIT,
        GL_CLIP_PLANE0..=GL_CLIP_DISTANCE7 | GL_NORMALIZE | GL_RESCALE_NORMAL | GL_DEPTH_CLAMP => {
            GL_TRANSFORM_BIT
        }
        _ => 0,
    };
    group | GL_ENABLE_BIT
}

#[cfg(test)]
mod tests {
    use super::super::testing::{context, thread};
    use super::*;
    use crate::Nothing;

    #[test]
    fn capabilities_of_the_pushed_groups_are_restored() {
        let check = |mask, expected: &[(u32, bool)]| {
            let mut thread = thread((1, 1));
            let context = context(&mut thread);
            context.kept_attributes = vec![crate::KeptAttributes { mask, ..Default::default() }];
            context.attributes = vec![crate::Attributes::default()];
            context.attributes[0].capabilities.extend([(GL_FOG, true), (GL_CULL_FACE, true)]);
            context.attribute_depth = 1;
            context.capabilities.extend([(GL_FOG, false), (GL_CULL_FACE, false)]);
            context.capabilities.insert(GL_LIGHT1, true);
            restore_capabilities(&mut thread, &Nothing);
            let context = super::super::testing::context(&mut thread);
            let now: Vec<_> = context.capabilities.iter().map(|(cap, is)| (*cap, *is)).collect();
            assert_eq!(now, expected, "{mask:#x}");
        };
        let (fog, cull, light) = (GL_FOG, GL_CULL_FACE, GL_LIGHT1);
        check(GL_FOG_BIT, &[(cull, false), (fog, true), (light, true)]);
        check(GL_POLYGON_BIT | GL_LIGHTING_BIT, &[(cull, true), (fog, false)]);
        check(GL_ENABLE_BIT, &[(cull, true), (fog, true)]);
        check(GL_VIEWPORT_BIT, &[(cull, false), (fog, false), (light, true)]);
    }
}
